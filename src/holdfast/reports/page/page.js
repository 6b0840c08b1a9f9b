"use strict";
(() => {
  const messages = [...document.querySelectorAll("ol > li")];
  const states = [...document.querySelectorAll(".states button")];
  const words = document.getElementById("words");
  const open = document.getElementById("open");
  const shown = document.getElementById("shown");
  const left = document.querySelector(".left");

  const show = () => {
    const wanted = new Set(states.filter((one) => one.ariaPressed === "true").map((one) => one.dataset.state));
    const asked = words.value.trim().toLowerCase();
    let count = 0;
    for (const message of messages) {
      const found = wanted.has(message.dataset.state) && (!asked || message.textContent.toLowerCase().includes(asked));
      message.hidden = !found;
      count += found;
    }
    if (asked && left) left.open = true;
    shown.value = count === messages.length ? "" : `${count} of ${messages.length}`;
  };

  for (const state of states) {
    state.addEventListener("click", () => {
      state.ariaPressed = state.ariaPressed === "true" ? "false" : "true";
      show();
    });
  }
  words.addEventListener("input", show);
  words.form.addEventListener("submit", (event) => event.preventDefault());
  open.addEventListener("click", () => {
    const opening = open.textContent === "Open all";
    if (opening && left) left.open = true;
    for (const message of messages) message.firstElementChild.open = opening;
    open.textContent = opening ? "Close all" : "Open all";
  });

  const arrive = () => {
    const message = document.getElementById(location.hash.slice(1));
    if (!message || !messages.includes(message)) return;
    message.hidden = false;
    if (left?.contains(message)) left.open = true;
    message.firstElementChild.open = true;
    message.scrollIntoView();
  };
  addEventListener("hashchange", arrive);
  document.getElementById("controls").hidden = false;
  arrive();
})();
