from polyladder.export.fitted_formula import FittedFormula, Input, latex_text

FORMULA = FittedFormula(
    ("price",),
    (Input("[area]", "area", 120.0, 80.0), Input("[color = red]", None, 0.0, 1.0)),
    (((2.0, ()), (-1.5, ((0, 2), (1, 1)))),),
    (0.25,),
    6,
    "Predictions are held to 0 ... 9.",
)


def test_text():
    assert str(FORMULA).splitlines() == [
        "price = 2 - 1.5 [area]^2 [color = red]",
        "    2 of 6 terms, proven to be within 0.25 in the training range",
        "where [area] = (area - 120) / 80",
        "Predictions are held to 0 ... 9.",
    ]


def test_sympy():
    import sympy

    area, red = sympy.Symbol("area"), sympy.Symbol("[color = red]")
    (expression,) = FORMULA.expressions()
    assert float(expression.subs({area: 200, red: 1})) == 0.5


def test_latex_is_safe_for_any_name():
    assert latex_text("50% of_x{}") == r"\text{50\% of\_x\{\}}"
    assert FORMULA.latex().splitlines()[0].startswith(r"\text{price} = 2.0 ")
