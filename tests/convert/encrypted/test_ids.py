import dataclasses

import numpy as np
import torch

from polyladder import encrypt, load
from polyladder.convert.encrypted.ids import model_id, recipe_id
from polyladder.convert.source.fixed import held
from polyladder.fitted.answers import Numbers
from polyladder.fitted.model import fitted_model, ladder_model
from tests.export.estimators import fitted
from tests.ladders import random_ladder


def test_a_model_keeps_its_name_in_a_file_and_a_changed_one_has_another(tmp_path):
    model = fitted("gaps and categories")[0]
    model.save(tmp_path / "m.ladder")
    own = encrypt(model).recipe
    again = encrypt(load(tmp_path / "m.ladder")).recipe
    assert (again.model, again.id) == (own.model, own.id)
    description = fitted_model(model)
    names = {own.model}
    ladders = description.ladders
    for name in ladders.tensors():
        changed = {k: v.clone() for k, v in ladders.tensors().items()}
        flat = changed[name].view(-1)
        flat[0] = torch.nextafter(flat[0], torch.tensor(torch.inf, dtype=torch.float64))
        layers = {letter: tuple(changed[f"{letter}.{i}"] for i in range(len(ladders.W))) for letter in "WbVc"}
        other = type(ladders)(**layers, readout=changed["readout"], offset=changed["offset"])
        names.add(model_id(dataclasses.replace(description, ladders=other), description.answer))
    assert len(names) == 1 + len(ladders.tensors())
    names.add(model_id(dataclasses.replace(description, steps=description.steps[::-1]), description.answer))
    names.add(model_id(description, Numbers(None)))
    assert len(names) == 3 + len(ladders.tensors())


def test_a_recipe_has_the_name_of_all_that_it_says():
    numbers = {"scale": np.array([1.0, 2.0]), "sizes": np.array([3.0])}
    own = recipe_id({"model": "a"}, numbers)
    assert own == recipe_id({"model": "a"}, {name: values * (1 + 1e-12) for name, values in numbers.items()})
    assert own != recipe_id({"model": "b"}, numbers)
    for name, values in numbers.items():
        assert own != recipe_id({"model": "a"}, {**numbers, name: values * (1 + 1e-6)})


def test_the_range_of_a_bare_ladder_is_part_of_its_name():
    ladder = ladder_model(random_ladder(d=2, m=1))
    one, two = (model_id(held(ladder, [(-1.0, high)] * 2), Numbers(None)) for high in (1.0, 2.0))
    assert one != two
