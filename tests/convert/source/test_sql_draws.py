import re

from polyladder.convert.source.sql import sql_source
from polyladder.convert.source.sql_words import number
from polyladder.fitted.model import fitted_model
from tests.export.estimators import case


def test_every_rung_is_one_expression_and_the_weights_stand_once():
    description = fitted_model(case("posterior")[0])
    text = str(sql_source(description))
    assert re.findall(r"(rung_\d) AS MATERIALIZED", text) == ["rung_1", "rung_2"]
    assert text.count(number(description.ladders.readout[0, 0, 0].item())) == 1
