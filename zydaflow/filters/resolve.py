"""From a recipe to the rules of each of its datasets and the signals that these need."""

from zydaflow.errors import RecipeError
from zydaflow.filters.presets import bounds, preset
from zydaflow.filters.rules import Rule
from zydaflow.recipe import DatasetSpec, Recipe, RuleSpec
from zydaflow.signals import SIGNALS
from zydaflow.signals.scores import PREFIX
from zydaflow.suggest import nearest


def resolve(recipe: Recipe, dataset: DatasetSpec) -> tuple[Rule, ...]:
    """The rules for a dataset, no two of one name, in the order in which they count as broken first.

    First those on licences, which hold for every dataset; then those on language, for every dataset but one that says
    `filters: []`, like code; then those of the dataset's filters, or else the recipe's. A rule that is written out
    takes the place of a rule set's of the same name. Raises RecipeError for an unknown rule set or signal, for a bound
    on a label, and for two rules of one name.
    """
    specs = recipe.filters_of(dataset)
    from_sets = {rule.name: rule for spec in specs if isinstance(spec, str) for rule in preset(spec).rules}
    written = _written([spec for spec in specs if isinstance(spec, RuleSpec)])
    language = [] if dataset.filters == () else _language_rules(recipe)
    return (*_license_rules(recipe), *language, *(from_sets | written).values())


def signals_needed(recipe: Recipe, dataset: DatasetSpec) -> tuple[str, ...]:
    """The signals to measure for a dataset: those of its rules, those that its rule sets report, those that copies
    are chosen by, and its scores."""
    rules = [rule.signal for rule in resolve(recipe, dataset) if rule.signal in SIGNALS]
    reports = [name for spec in recipe.filters_of(dataset) if isinstance(spec, str) for name in preset(spec).reports]
    chosen_by = [key.name for key in recipe.dedup.keep_keys if key.name in SIGNALS] if recipe.dedup else []
    scores = [PREFIX + name for name in recipe.scorers_of(dataset)]
    return tuple(dict.fromkeys(rules + reports + chosen_by + scores))


def _written(specs: list[RuleSpec]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for spec in specs:
        if spec.signal not in SIGNALS:
            raise RecipeError(f"filters: there is no signal {spec.signal!r}{nearest(spec.signal, SIGNALS)}")
        if SIGNALS[spec.signal].kind == "label":
            raise RecipeError(f"filters: {spec.signal} is a label, without min or max; use language: {{keep: […]}}")
        for rule in bounds(spec.signal, spec.min, spec.max):
            if rule.name in rules:
                raise RecipeError(f"filters: there are two rules {rule.name}; leave one of them")
            rules[rule.name] = rule
    return rules


def _license_rules(recipe: Recipe) -> list[Rule]:
    policy = recipe.licenses
    if policy is None:
        return []
    if policy.allow is not None:  # an unknown licence is none of the allowed
        return [Rule("license.allow", "license", "allow", policy.allow, known=True, folded=True)]
    return [Rule("license.deny", "license", "deny", policy.deny or (), folded=True)]


def _language_rules(recipe: Recipe) -> list[Rule]:
    if recipe.language is None:
        return []
    return [
        Rule("language.keep", "language", "allow", recipe.language.keep),
        Rule("language.min_score", "language_score", "min", recipe.language.min_score),
    ]
