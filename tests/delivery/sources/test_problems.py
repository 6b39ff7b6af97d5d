import io

from delivery.sources.problems import KEPT, PROBLEM_HEADER, REMEDIES, ProblemLog


def test_the_first_thousand_are_kept_and_all_are_written():
    file = io.StringIO()
    log = ProblemLog(file, {"zip": "ZIP5"})

    for line in range(KEPT + 500):
        log.add(line, "zip", "8410X", "E_ZIP")

    assert len(log.kept) == KEPT
    assert log.counts["E_ZIP"] == log.rejects == KEPT + 500
    assert len(file.getvalue().splitlines()) == KEPT + 500
    assert file.getvalue().splitlines()[0] == f'0,ZIP5,8410X,E_ZIP,"{REMEDIES["E_ZIP"]}"'
    assert PROBLEM_HEADER.strip() == "line,column,value,code,remedy"


def test_values_are_cut_printable_and_no_formulas():
    file = io.StringIO()
    log = ProblemLog(file)

    log.add(1, "zip", "=1+1\0" + "x" * 200, "E_ZIP")

    value = log.kept[0][2]
    assert (len(value), value[:5], value[-1]) == (80, "=1+1\N{REPLACEMENT CHARACTER}", "…")
    assert file.getvalue().startswith("1,zip,'=1+1")


def test_every_code_has_a_remedy_and_says_what_it_does():
    assert all(code[:2] in {"E_", "W_"} and remedy.endswith(".") for code, remedy in REMEDIES.items())
