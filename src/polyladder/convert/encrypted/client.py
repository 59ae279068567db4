"""The client's side: keys, encrypted rows, decrypted answers. It knows the preprocessing, but no weights."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import torch

from polyladder.convert.encrypted.bundle import Bundle, Ids, check_ids, check_parts, pack, unpack
from polyladder.convert.encrypted.ids import recipe_id
from polyladder.convert.encrypted.parameters import Parameters
from polyladder.convert.encrypted.pieces import (
    answer_from,
    answer_json,
    columns_from,
    columns_json,
    features_from,
    features_json,
    numbers_from,
    parameters_from,
    require,
)
from polyladder.convert.encrypted.seal import ciphertext, context, from_bytes, library, to_bytes
from polyladder.convert.exported.ranges import Array
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.answers.answer import held
from polyladder.fitted.column import Column
from polyladder.fitted.plan import Feature, plan_of
from polyladder.fitted.rows import read

FORMAT = "polyladder encrypted recipe 2"

ROUNDING = 1e-9
"""Relative amount by which float64 numbers may leave a proven range."""


@dataclass(frozen=True)
class Keys:
    """A client's keys: the secret one stays, the public one goes to the server."""

    secret: bytes
    public: bytes


@dataclass(frozen=True, eq=False)
class ClientRecipe:
    """Everything that a client needs.

    Attributes:
        model: id of the model that it was made from.
        parameters: of the encryption.
        columns: of the table.
        features: from columns to inputs of the ladders.
        scale: what inputs are divided by. Shape (d,).
        sizes: what decrypted sums are multiplied by. Shape (m,).
        offset: what is added to them. Shape (m,).
        answer: how outputs become answers.
        bound: on the difference between an output and the exact one; it fails with a probability below 1e-8.
    """

    model: str
    parameters: Parameters
    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    scale: Array
    sizes: Array
    offset: Array
    answer: Numbers | Classes
    bound: Array

    @property
    def id(self) -> str:
        """Its own id, which keys, rows and scores carry."""
        return recipe_id(self._said(), self._numbers())

    def make_keys(self) -> Keys:
        """New keys, from the operating system's randomness; they belong to this recipe."""
        generator = library().KeyGenerator(context(self.parameters))
        ids = Ids(self.model, self.id, secrets.token_hex(16))
        secret = pack("secret key", Bundle(ids, {"secret": to_bytes(generator.secret_key())}))
        public = pack("public key", Bundle(ids, {"relinearization": to_bytes(generator.create_relin_keys())}))
        return Keys(secret, public)

    def encrypt(self, secret_key: bytes, rows: Any) -> bytes:
        """Rows of a table, encrypted: one ciphertext for each input and each block of rows.

        Args:
            secret_key: from `Keys.secret`, made with this recipe.
            rows: a data frame, or an array. Shape (n, columns).
        """
        seal, made_in = library(), context(self.parameters)
        ids, secret = self._secret(made_in, secret_key)
        z = self._inputs(rows) / self.scale
        if len(z) == 0 or np.abs(z).max() > 1 + ROUNDING:
            raise ValueError("There must be rows, and inputs within the recipe's range; the recipe may be damaged.")
        encryptor = seal.Encryptor(made_in, secret)
        encoder, plain = seal.CKKSEncoder(made_in), seal.Plaintext()
        slots = self.parameters.slots
        parts = {}
        for k, start in enumerate(range(0, len(z), slots)):
            for i, column in enumerate(z[start : start + slots].T):
                encoder.encode(column.tolist(), self.parameters.scale, plain)
                parts[f"{k}_{i}"] = to_bytes(encryptor.encrypt_symmetric(plain))
        return pack("encrypted rows", Bundle(ids, parts, len(z)))

    def decrypt(self, secret_key: bytes, scores: bytes) -> Array:
        """Answers from encrypted scores: guarded numbers (n, m), or probabilities (n, classes)."""
        outputs = torch.from_numpy(self.decrypt_outputs(secret_key, scores)).unsqueeze(0)
        if isinstance(self.answer, Classes):
            return np.asarray(self.answer.probabilities(outputs).numpy())
        return np.asarray(held(outputs[0], self.answer.guard).numpy())

    def _inputs(self, rows: Any) -> Array:
        """The inputs of the ladders. Shape (n, d)."""
        table, plan = read(self.columns, rows), plan_of(self.features)
        z = plan(table)
        if not np.isfinite(z).all():
            row, at = (int(i) for i in np.argwhere(~np.isfinite(z))[0])
            name = self.columns[self.features[at].column].name
            raise ValueError(f"Column {name!r} must hold finite numbers; row {row + 1} does not. Fill it in first.")
        return z

    def decrypt_outputs(self, secret_key: bytes, scores: bytes) -> Array:
        """The outputs of the ladders themselves. Shape (n, m).

        No output of a ladder exceeds its proven size. A larger one was not computed by this model from rows under this
        key, and is refused.
        """
        seal, made_in = library(), context(self.parameters)
        ids, secret = self._secret(made_in, secret_key)
        bundle = unpack("encrypted scores", scores)
        check_ids("The scores", bundle.ids, self.model, self.id, ids.key)
        blocks = check_parts("The scores", bundle, self.parameters.slots, len(self.sizes))
        decryptor, encoder, plain = seal.Decryptor(made_in, secret), seal.CKKSEncoder(made_in), seal.Plaintext()
        found = np.empty((blocks * self.parameters.slots, len(self.sizes)))
        for k, block in enumerate(np.split(found, blocks)):
            for j in range(len(self.sizes)):
                score = ciphertext(made_in, bundle.parts[f"{k}_{j}"], self.parameters.scale**2)
                decryptor.decrypt(score, plain)
                block[:, j] = encoder.decode_double(plain)
        found = found[: bundle.rows]
        if not (np.abs(found) <= 1 + ROUNDING + self.bound / self.sizes).all():
            raise ValueError(
                "The scores must be computed by this model from rows under this key; they exceed its proven range. "
                "They are damaged, or forged."
            )
        return np.asarray(found * self.sizes + self.offset)

    def _secret(self, made_in: Any, secret_key: bytes) -> tuple[Ids, Any]:
        """The ids of a secret key and the key itself."""
        bundle = unpack("secret key", secret_key)
        check_ids("The secret key", bundle.ids, self.model, self.id)
        return bundle.ids, from_bytes(library().SecretKey, made_in, bundle.parts.get("secret", b""), "The secret key")

    def _said(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "model": self.model,
            "parameters": asdict(self.parameters),
            "columns": columns_json(self.columns),
            "features": features_json(self.features),
            "answer": answer_json(self.answer),
        }

    def _numbers(self) -> dict[str, Array]:
        return {"scale": self.scale, "sizes": self.sizes, "offset": self.offset, "bound": self.bound}

    def to_json(self) -> str:
        """The recipe as text."""
        numbers = {name: values.tolist() for name, values in self._numbers().items()}
        return json.dumps({**self._said(), **numbers, "id": self.id})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The recipe from its text."""
        try:
            content = json.loads(text)
            columns = columns_from(content["columns"])
            sizes = numbers_from(content["sizes"], 0.0)
            found = cls(
                str(content["model"]),
                parameters_from(content["parameters"]),
                columns,
                features_from(content["features"], columns),
                numbers_from(content["scale"], 0.0),
                sizes,
                numbers_from(content["offset"]),
                answer_from(content["answer"], len(sizes)),
                numbers_from(content["bound"], 0.0),
            )
            require(len(found.scale) == len(found.features), "every input must have a scale")
            require(len(sizes) == len(found.offset) == len(found.bound), "every output must have a size")
            require(content["format"] == FORMAT and content["id"] == found.id, "a recipe must have its own name")
            return found
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(
                "The file must hold a recipe of polyladder; it is something else, damaged, or of an earlier version. "
                "Export it again."
            ) from error
