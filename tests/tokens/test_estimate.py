from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from holdfast.kernel import budget, integrity, messages, registry
from holdfast.tokens import counter_for, estimate
from tests.contracts.counter_contract import CounterContract

CODE = [
    Path(module.__file__).read_text(encoding="utf-8")
    for module in (budget, integrity, messages, registry, estimate)
]
RECORDS = [
    {
        "id": 4_000 + n,
        "name": f"sensor-{n:02}",
        "ok": n % 3 == 0,
        "values": [n * 1.5, None, f"2024-03-{n % 28 + 1:02}"],
    }
    for n in range(40)
]
DATA = [
    json.dumps(RECORDS),
    json.dumps(RECORDS, indent=2),
    "\n".join(f"{r['id']},{r['name']},{r['ok']},{r['values'][0]}" for r in RECORDS),
    "\n".join(
        f"2024-03-01T12:{n:02}:07Z WARN [pool-{n % 4}] retry {n} of 40 took {n * 37} ms"
        for n in range(40)
    ),
    "<ul>"
    + "".join(f'<li class="row r{n}"><a href="/item/{n}">Item {n}</a></li>\n' for n in range(40))
    + "</ul>",
]
PROSE = [
    (
        "The harbour was quiet that morning, and nobody on the pier had expected the "
        "ferry to come back before noon. "
        "When it did, its captain went straight to the office, asked for the log book, "
        "and wrote for almost an hour."
    ),
    (
        "Der Hafen war an diesem Morgen still, und niemand auf dem Steg hatte erwartet, "
        "dass die Fähre vor Mittag "
        "zurückkehren würde. Als sie kam, ging der Kapitän sofort ins Büro und verlangte "
        "das Logbuch."
    ),
    (
        "Le port était calme ce matin-là, et personne sur la jetée n'attendait le retour "
        "du bac avant midi. Quand il "
        "arriva, le capitaine se rendit tout droit au bureau et demanda le journal de bord."
    ),
    (
        "El puerto estaba tranquilo aquella mañana y nadie en el muelle esperaba que el "
        "barco volviera antes del "
        "mediodía. Cuando llegó, el capitán fue directamente a la oficina y pidió el cuaderno."
    ),
    (
        "Утром в гавани было тихо, и никто на причале не ожидал, что паром вернётся до "
        "полудня. Когда он пришёл, "
        "капитан сразу отправился в контору, попросил журнал и писал почти час."
    ),
    "那天早上港口很安静，码头上没有人想到渡轮会在中午之前回来。船一靠岸，船长就直接走进办公室，要来了航海日志，写了将近一个小时。",
    "その朝、港は静かで、桟橋にいた人は誰も、フェリーが昼前に戻るとは思っていなかった。船長はまっすぐ事務所へ行き、航海日誌を求めた。",
    "그날 아침 항구는 조용했고, 부두에 있던 누구도 배가 정오 전에 돌아올 것이라고 "
    "생각하지 않았다. 선장은 곧장 사무실로 갔다.",
    "كان الميناء هادئا في ذلك الصباح، ولم يتوقع أحد على الرصيف أن تعود العبارة قبل "
    "الظهر. عندما وصلت ذهب القبطان إلى المكتب.",
    "उस सुबह बंदरगाह शांत था और घाट पर किसी को उम्मीद नहीं थी कि नाव दोपहर से पहले लौट "
    "आएगी। कप्तान सीधे दफ़्तर गया।",
]


class TestEstimate(CounterContract):
    @pytest.fixture
    def counter(self):
        return estimate.ESTIMATE


def off(count, text):
    exact = counter_for("o200k_base").count(text)
    return abs(count - exact) / exact


@pytest.mark.parametrize("texts", [CODE, DATA, PROSE], ids=["code", "data", "prose"])
def test_is_off_by_no_more_than_it_says_on_average_and_less_than_a_quarter_of_the_characters(texts):
    ours = statistics.mean(off(estimate.ESTIMATE.count(text), text) for text in texts)
    rough = statistics.mean(off(len(text) / 4, text) for text in texts)
    assert ours <= estimate.ESTIMATE.accuracy.error
    assert ours < rough


def test_no_text_takes_nothing_and_any_text_something():
    assert estimate.ESTIMATE.count("") == 0
    assert all(
        estimate.ESTIMATE.count(character) >= 1
        for character in " \n.aA0é中\u1ea1\ud800\U0001f600\x00"
    )


@pytest.mark.parametrize(
    "unit",
    ["a", "A", " ", "\n", "7", "[", '"', "'", "aA", "中", "\U0001f600", "\ud800", " \n", "\x1c"],
)
def test_ten_times_the_text_takes_ten_times_the_tokens(unit):
    once, ten = estimate.ESTIMATE.count(unit * 100_000), estimate.ESTIMATE.count(unit * 1_000_000)
    assert ten == pytest.approx(10 * once, rel=0.01)
