"""From a recipe to the rules of each of its datasets and the signals that these need."""

from collections.abc import Iterable
from dataclasses import replace

from zydaflow.errors import RecipeError
from zydaflow.filters.build import rules_of
from zydaflow.filters.presets import sets_of
from zydaflow.filters.rules import LANGUAGE, AnyRule, Rule
from zydaflow.recipe import DatasetSpec, Recipe, RuleSetSpec
from zydaflow.signals import SIGNALS, metadata, urls
from zydaflow.signals.resources import URL_LISTS
from zydaflow.signals.scores import PREFIX


def resolve(recipe: Recipe, dataset: DatasetSpec) -> tuple[AnyRule, ...]:
    """The rules for a dataset, no two of one name, in the order in which they count as broken first.

    First those on licences, which hold for every dataset; then those on language, for every dataset but one that says
    `filters: []`, like code; then those of the dataset's filters, or else the recipe's. Of rules that several rule sets
    have the strictest counts; a rule that is written out takes the place of rule sets' of the same name. Rule sets'
    rules on URLs count where there is a URL and such a list.

    Raises RecipeError for an unknown rule set, signal or column, for a bound on a label, and for two rules of one name.
    """
    filters = recipe.filters_of(dataset)
    from_sets: dict[str, AnyRule] = {}
    for rule in (rule for chosen in sets_of(filters) for rule in chosen.rules):
        if not set(rule.columns) & _without_urls(recipe, dataset):
            from_sets[rule.name] = _strictest(from_sets.get(rule.name, rule), rule)
    written: dict[str, AnyRule] = {}
    for item in filters:
        for rule in [] if isinstance(item, str | RuleSetSpec) else rules_of(item):
            if rule.name in written:
                raise RecipeError(f"filters: there are two rules {rule.name}; leave one of them")
            written[rule.name] = rule
    together = _scoped((from_sets | written).values(), (*from_sets.values(), *written.values()))
    _check_columns(recipe, dataset, together)
    language = [] if dataset.filters == () else _language_rules(recipe)
    return (*_license_rules(recipe), *language, *together)


def signals_needed(recipe: Recipe, dataset: DatasetSpec) -> tuple[str, ...]:
    """The signals to measure for a dataset: those of its rules, those that its rule sets report, those that copies
    are chosen by, its language where it is to be told, the domain of its URLs, and its scores."""
    rules = [name for rule in resolve(recipe, dataset) for name in rule.columns if name in SIGNALS]
    filters = recipe.filters_of(dataset)
    reports = [name for chosen in sets_of(filters) for name in chosen.reports]
    reports = [name for name in reports if name not in _without_urls(recipe, dataset)]
    chosen_by = [key.name for key in recipe.dedup.keep_keys if key.name in SIGNALS] if recipe.dedup else []
    language = [LANGUAGE, "language_score"] if recipe.language and dataset.filters != () else []
    domain = [urls.DOMAIN] if dataset.url else []
    scores = [PREFIX + name for name in recipe.scorers_of(dataset)]
    return tuple(dict.fromkeys(rules + reports + chosen_by + language + domain + scores))


def languages_named(rules: Iterable[AnyRule]) -> list[str]:
    """The labels of languages that rules have bounds of their own for."""
    return sorted({label for rule in single(rules) for label in (*rule.only, *rule.but)})


def single(rules: Iterable[AnyRule]) -> list[Rule]:
    """The rules, and those in composites."""
    return [one for rule in rules for one in (rule, *rule.within()) if isinstance(one, Rule)]


def _strictest(one: AnyRule, other: AnyRule) -> AnyRule:
    """The rule that removes what either of two of one name does."""
    if one == other:
        return one
    if isinstance(one, Rule) and isinstance(other, Rule) and one.signal == other.signal:
        if one.test == "min":
            return replace(one, bound=max(one.bound, other.bound), known=one.known or other.known)
        if one.test == "max":
            return replace(one, bound=min(one.bound, other.bound), known=one.known or other.known)
    raise RecipeError(f"filters: two rule sets have different rules {one.name}; leave one out by without: [{one.name}]")


def _scoped(rules: Iterable[AnyRule], all_rules: Iterable[AnyRule]) -> tuple[AnyRule, ...]:
    """The rules, those for all languages less the languages that have bounds of their own on the same signal."""
    own: dict[str, set[str]] = {}
    for rule in all_rules:
        if isinstance(rule, Rule):
            own.setdefault(rule.signal, set()).update(rule.only, rule.but)
    return tuple(
        replace(rule, but=tuple(sorted(own[rule.signal]))) if isinstance(rule, Rule) and not rule.only else rule
        for rule in rules
    )


def _without_urls(recipe: Recipe, dataset: DatasetSpec) -> set[str]:
    """Signals of URLs that the dataset cannot have: there is no column, or no list, to go by."""
    if dataset.url is None:
        return set(urls.NAMES)
    return {urls.count(name) for name in URL_LISTS if not getattr(recipe.url_lists, name)}


def _check_columns(recipe: Recipe, dataset: DatasetSpec, rules: Iterable[AnyRule]) -> None:
    """Raises RecipeError for a rule on something that the dataset's records do not bring."""
    lacking = _without_urls(recipe, dataset)
    for rule in single(rules):
        column = metadata.column(rule.signal)
        if column is not None and column not in dataset.carried:
            why = f"goes by the column {column!r}, which is not in its metadata: add it there"
        elif rule.signal in lacking:
            why = f"needs url: COLUMN of the dataset and url_lists.{rule.signal.rpartition('.')[2]}: give both"
        elif LANGUAGE in rule.columns and recipe.language is None:
            why = "goes by language: give language: {model: PATH}"
        else:
            continue
        raise RecipeError(f"dataset {dataset.name}: the rule {rule.name} {why}, or give the dataset filters of its own")


def _license_rules(recipe: Recipe) -> list[Rule]:
    policy = recipe.licenses
    if policy is None:
        return []
    if policy.allow is not None:  # an unknown licence is none of the allowed
        return [Rule("license.allow", "license", "allow", policy.allow, known=True, folded=True)]
    return [Rule("license.deny", "license", "deny", policy.deny or (), folded=True)]


def _language_rules(recipe: Recipe) -> list[Rule]:
    if recipe.language is None or recipe.language.keep is None:
        return []
    return [
        Rule("language.keep", LANGUAGE, "allow", recipe.language.keep),
        Rule("language.min_score", "language_score", "min", recipe.language.min_score),
    ]
