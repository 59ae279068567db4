"""The client's side: keys, encrypted rows, decrypted answers. It knows the preprocessing, but no weights."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from polyladder.convert.encrypted.bundle import pack, unpack
from polyladder.convert.encrypted.parameters import Parameters
from polyladder.convert.encrypted.seal import context, from_bytes, library, to_bytes
from polyladder.convert.exported.answers import Classes, Numbers
from polyladder.convert.exported.apply import answers_of, inputs_of
from polyladder.convert.exported.model import ExportedColumn, Feature
from polyladder.convert.exported.ranges import Array
from polyladder.convert.exported.steps import (
    Affine,
    Blank,
    Clip,
    Fill,
    IsCategory,
    IsMissing,
    Quantile,
    Ramp,
    YeoJohnson,
)

STEPS: dict[str, Any] = {
    kind.__name__: kind for kind in (Blank, Fill, Clip, Affine, Ramp, YeoJohnson, Quantile, IsMissing, IsCategory)
}
FORMAT = "polyladder encrypted recipe 1"


@dataclass(frozen=True)
class Keys:
    """A client's keys: the secret one stays, the public one goes to the server."""

    secret: bytes
    public: bytes


@dataclass(frozen=True, eq=False)
class Recipe:
    """Everything that a client needs.

    Attributes:
        parameters: of the encryption.
        columns: of the table.
        features: from columns to inputs of the ladders.
        scale: what inputs are divided by. Shape (d,).
        sizes: what decrypted sums are multiplied by. Shape (m,).
        offset: what is added to them. Shape (m,).
        answer: how outputs become answers.
        bound: what the difference of an output to the exact one does not exceed, but for a chance below 1e-8.
    """

    parameters: Parameters
    columns: tuple[ExportedColumn, ...]
    features: tuple[Feature, ...]
    scale: Array
    sizes: Array
    offset: Array
    answer: Numbers | Classes
    bound: Array

    def make_keys(self) -> Keys:
        """New keys, from the operating system's randomness."""
        seal = library()
        generator = seal.KeyGenerator(context(self.parameters))
        secret = pack("secret key", self.parameters, {"secret": to_bytes(generator.secret_key())})
        public = pack("public key", self.parameters, {"relinearization": to_bytes(generator.create_relin_keys())})
        return Keys(secret, public)

    def encrypt(self, secret_key: bytes, rows: Any) -> bytes:
        """Rows of a table, encrypted: one ciphertext for each input and each block of rows.

        Args:
            secret_key: from `Keys.secret`.
            rows: a data frame, or an array. Shape (n, columns).
        """
        z = inputs_of(self.columns, self.features, rows) / self.scale
        seal, made_in = library(), context(self.parameters)
        encryptor = seal.Encryptor(made_in, self._secret(made_in, secret_key))
        encoder, plain = seal.CKKSEncoder(made_in), seal.Plaintext()
        slots = self.parameters.slots
        parts = {}
        for k, start in enumerate(range(0, len(z), slots)):
            for i, column in enumerate(z[start : start + slots].T):
                encoder.encode(column.tolist(), self.parameters.scale, plain)
                parts[f"{k}_{i}"] = to_bytes(encryptor.encrypt_symmetric(plain))
        blocks = -(-len(z) // slots)
        return pack("encrypted rows", self.parameters, parts, rows=len(z), blocks=blocks)

    def decrypt(self, secret_key: bytes, scores: bytes) -> Array:
        """Answers from encrypted scores: guarded numbers (n, m), or probabilities (n, classes)."""
        return answers_of(self.answer, self.decrypt_outputs(secret_key, scores))

    def decrypt_outputs(self, secret_key: bytes, scores: bytes) -> Array:
        """The outputs of the ladders themselves. Shape (n, m)."""
        parameters, facts, parts = unpack("encrypted scores", scores)
        if parameters != self.parameters:
            raise ValueError(f"The scores must be computed under {self.parameters}; got {parameters}.")
        seal, made_in = library(), context(self.parameters)
        decryptor = seal.Decryptor(made_in, self._secret(made_in, secret_key))
        encoder, plain = seal.CKKSEncoder(made_in), seal.Plaintext()
        blocks = []
        for k in range(int(facts["blocks"])):
            columns = []
            for j in range(len(self.sizes)):
                content = parts[f"{k}_{j}"]
                found = from_bytes(lambda: seal.Ciphertext(made_in), made_in, content, "A ciphertext")
                decryptor.decrypt(found, plain)
                columns.append(np.array(encoder.decode_double(plain)))
            blocks.append(np.stack(columns, 1))
        return np.asarray(np.concatenate(blocks)[: int(facts["rows"])] * self.sizes + self.offset)

    def _secret(self, made_in: Any, secret_key: bytes) -> Any:
        parameters, _, parts = unpack("secret key", secret_key)
        if parameters != self.parameters:
            raise ValueError(f"The secret key must be made under {self.parameters}; got {parameters}.")
        return from_bytes(library().SecretKey, made_in, parts["secret"], "The secret key")

    def to_json(self) -> str:
        """The recipe as text."""
        features = [
            {"column": f.column, "steps": [{"kind": type(s).__name__, **asdict(s)} for s in f.steps]}
            for f in self.features
        ]
        return json.dumps(
            {
                "format": FORMAT,
                "parameters": asdict(self.parameters),
                "columns": [asdict(column) for column in self.columns],
                "features": features,
                "scale": self.scale.tolist(),
                "sizes": self.sizes.tolist(),
                "offset": self.offset.tolist(),
                "answer": {"kind": type(self.answer).__name__, **asdict(self.answer)},
                "bound": self.bound.tolist(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The recipe from its text."""
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise KeyError(FORMAT)
            columns = tuple(ExportedColumn(**{**c, "categories": tuple(c["categories"])}) for c in found["columns"])
            features = tuple(Feature(f["column"], tuple(step_of(s) for s in f["steps"])) for f in found["features"])
            numbers = {name: np.array(found[name], dtype=np.float64) for name in ("scale", "sizes", "offset", "bound")}
            parameters = Parameters(**found["parameters"])
            return cls(parameters, columns, features, answer=answer_from(found["answer"]), **numbers)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError("The file must hold a recipe of polyladder; it is something else or damaged.") from error


def step_of(content: dict[str, Any]) -> Any:
    """A step from its JSON."""
    kind = STEPS[content["kind"]]
    names = [field.name for field in dataclasses.fields(kind)]
    return kind(**{n: tuple(content[n]) if isinstance(content[n], list) else content[n] for n in names})


def answer_from(content: dict[str, Any]) -> Numbers | Classes:
    """The way from outputs to answers, from its JSON."""
    if content["kind"] == "Classes":
        return Classes(tuple(content["labels"]), content["link"])
    guard = content["guard"]
    return Numbers(None if guard is None else (tuple(guard[0]), tuple(guard[1])))
