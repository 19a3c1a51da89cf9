"""How a report looks in a browser: light by day, dark where the reader's system is, light again on paper.

The drawings carry their light colours as attributes, so that one alone is whole; in the dark a rule for each colour
paints over them (CSS rules win over SVG's presentation attributes: SVG 2, "Presentation attributes").
"""

from __future__ import annotations

from services.colors import CURVES, DARK, LIGHT

_INKS = (
    "panel", "canvas", "line", "divider", "text", "second", "third", "good", "transfer", "warn", "warn_fill", "bad",
    "stale", "enclosure", "enclosure_line",
)  # fmt: skip
INK = {**{name: LIGHT[name] for name in _INKS}, "curve": CURVES[0]}
"""What drawings may use: in the dark each of these is painted over by its dark fellow."""
_DARK = {**{name: DARK[name] for name in _INKS}, "curve": CURVES[0]}
_RULES = """
body { font: 14px/1.5 Inter, system-ui, sans-serif; color: var(--text); background: var(--panel); margin: 0 auto;
       max-width: 960px; padding: 32px 24px; font-feature-settings: "tnum"; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 12px; }
h2 { font-size: 17px; margin: 22px 0 6px; border-bottom: 1px solid var(--line); }
h3 { font-size: 14px; margin: 20px 0 4px; } p { margin: 4px 0; } figure { margin: 12px 0; }
figcaption, summary, .lines b { color: var(--second); font-size: 12px; font-weight: 600; }
table { border-collapse: collapse; margin: 8px 0; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 3px 12px 3px 0; border-bottom: 1px solid var(--divider); }
th { color: var(--second); font-weight: 600; } th, .short { white-space: nowrap; } td { overflow-wrap: anywhere; }
pre { font: 12px/1.45 "JetBrains Mono", ui-monospace, monospace; background: var(--canvas);
      border: 1px solid var(--divider); border-radius: 4px; padding: 6px 10px; margin: 2px 0 8px;
      white-space: pre-wrap; overflow-wrap: anywhere; }
.good, .warn, .bad { border-left: 3px solid; padding-left: 10px; }
.quiet { color: var(--second); font-size: 13px; margin-bottom: 12px; }
details.fold { border-top: 1px solid var(--line); padding: 6px 0; margin-top: 10px; }
details.level3 { border-color: var(--divider); margin: 0 0 0 16px; padding: 2px 0; }
summary { cursor: pointer; } summary h2, summary h3 { display: inline; border: 0; margin: 0; color: var(--text); }
summary h2 { font-size: 15px; } summary h3 { font-size: 13px; font-weight: 500; }
.good { border-color: var(--good); } .warn { border-color: var(--warn_fill); }
.bad { border-color: var(--bad); color: var(--bad); }
figcaption { margin-bottom: 4px; } details { margin-top: 4px; }
svg { display: block; max-width: 100%; height: auto; font-family: Inter, system-ui, sans-serif; }
"""
_PAPER = """
@media screen and (max-width: 700px) { table { display: block; overflow-x: auto; } }
@page { margin: 16mm 14mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 11px; line-height: 1.4; }
  h1 { font-size: 18px; } h2 { font-size: 14px; margin-top: 22px; } h3 { font-size: 11px; margin-top: 14px; }
  table { font-size: 10px; } pre { font-size: 9.5px; } figcaption, .lines b { font-size: 10px; }
  th, td { padding: 2px 8px 2px 0; }
  h2, h3, h3 + p, figcaption { break-after: avoid; } figure, tr, pre, .lines { break-inside: avoid; }
  thead { display: table-header-group; } figure details:not([open]) { display: none; }
  details.fold::details-content { content-visibility: visible; block-size: auto; }
}
"""


def style() -> str:
    """Return the whole style sheet."""
    return f":root {{ color-scheme: light dark; {_variables(INK)} }}{_RULES}{_dark()}{_PAPER}"


def _dark() -> str:
    painted = "\n".join(
        f'  svg [{what}="{INK[name]}"] {{ {what}: var(--{name}); }}' for name in INK for what in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme: dark) {{\n  :root {{ {_variables(_DARK)} }}\n{painted}\n}}"


def _variables(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())
