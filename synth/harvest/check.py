"""What can be checked of a harvested row from its stored columns."""

from __future__ import annotations

from synth.codegen.translator import CodegenError, Translator
from synth.dataset.placement import split_of
from synth.harvest.row import extract_alone, split_key
from synth.rows.maker import Row, module_columns
from validate.row.schema import check_row


def harvested_problem(row: Row, translator: Translator | None = None) -> str:
    """Why a harvested row is wrong; "" when nothing is known against it.

    Args:
        row: a row of category ``harvested``.
        translator: one with ``backward=True``. With it ``python`` of a self-contained row is
            executed and translated, and must give the stored CUDA; without it nothing is executed.
    """
    problems = check_row(row)
    if problems:
        return "; ".join(problems)
    claims = [key for key in ("structure", "idiom", "level", "reference", "program") if row[key]]
    if claims:
        return f"a harvested row has no {', '.join(claims)}"
    if translator is None or not row["provenance"]["self_contained"]:
        return ""
    return _translation_problem(row, translator)


def harvested_split(row: Row) -> str:
    """The split in which a harvested row belongs."""
    return split_of(split_key(row))


def _translation_problem(row: Row, translator: Translator) -> str:
    try:
        text = translator.translate(row["python"], row["kernel_name"])
        module = extract_alone(text, row["kernel_name"])
    except (CodegenError, ValueError) as error:
        return f"python does not translate: {str(error).splitlines()[0]}"
    again = module_columns(module, module.kernels[0].line_map)
    different = [column for column, value in again.items() if row[column] != value]
    return f"python translates to another {', '.join(different)}" if different else ""
