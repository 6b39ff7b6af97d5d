"""Lists, compares, rebuilds, exports, activates and discards data sets on the command line."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from delivery.datasets.csv_export import export_lines
from delivery.datasets.models import Dataset
from delivery.datasets.selectors import compare_datasets, live_dataset, loaded_datasets
from delivery.datasets.services.datasets import activate_dataset, discard_dataset, rebuild_dataset
from delivery.datasets.services.importer import read_types
from delivery.management.commands.import_eddm import current_user, file_to_write
from fulfillment.core.page_messages import ServiceCommand


class Command(ServiceCommand):
    help = "Lists, activates, discards, compares, rebuilds and exports the data sets of delivery populations."

    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="All data sets that can be activated, and the active one.")
        activate = actions.add_parser(
            "activate", help="Use this data set for look-ups. It may be an earlier one."
        )
        activate.add_argument("dataset", type=int)
        activate.add_argument("--force", action="store_true", help="Activate despite warnings.")
        actions.add_parser("discard", help="Delete a data set's populations.").add_argument(
            "dataset", type=int
        )
        actions.add_parser("compare", help="A data set against the active one.").add_argument(
            "dataset", type=int
        )
        rebuild = actions.add_parser("rebuild", help="A new data set that counts other route types.")
        rebuild.add_argument("dataset", type=int, nargs="?", help="Default: the active one.")
        rebuild.add_argument("--types", default="", help="Such as CRHB. Default: the service's setting.")
        export = actions.add_parser("export", help="Write a data set as CSV that imports to the same set.")
        export.add_argument("dataset", type=int, nargs="?", help="Default: the active one.")
        export.add_argument("--output", type=file_to_write, help="A file. Default: standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        for dataset in loaded_datasets():
            old = ", old" if dataset.is_old else ""
            self.stdout.write(
                f"{dataset.pk:5d}  {dataset.get_status_display():8}  {dataset.vintage_label}{old}  "
                f"{dataset.route_types}  {dataset.postal_code_count} ZIP codes  {dataset.route_count} routes  "
                f"{dataset.total} deliveries  {dataset.file_name}"
            )

    def _activate(self, options: dict[str, Any]) -> None:
        dataset = activate_dataset(
            dataset_id=options["dataset"], by=current_user(), despite_concerns=options["force"]
        )
        self.stdout.write(f"Data set {dataset.pk} is active.")

    def _discard(self, options: dict[str, Any]) -> None:
        dataset = discard_dataset(dataset_id=options["dataset"])
        self.stdout.write(f"Data set {dataset.pk} is discarded.")

    def _compare(self, options: dict[str, Any]) -> None:
        live = live_dataset()
        if live is None:
            raise CommandError("No data set is active.")
        comparison = compare_datasets(live, _find_dataset(options["dataset"]))
        for change in comparison.changes:
            percent = "" if change.percent is None else f" ({change.percent:+.2f}%)"
            self.stdout.write(f"{change.name}: {change.before} -> {change.after}{percent}")
        for name, count, codes in (
            ("added", comparison.added, comparison.first_added),
            ("gone", comparison.removed, comparison.first_removed),
        ):
            ellipsis = " …" if count > len(codes) else ""
            self.stdout.write(f"ZIP codes {name}: {count} {' '.join(codes)}{ellipsis}".rstrip())
        self.stdout.write(f"ZIP codes with different counts: {comparison.changed}")

    def _rebuild(self, options: dict[str, Any]) -> None:
        dataset = rebuild_dataset(
            dataset_id=_find_dataset(options["dataset"]).pk,
            route_types=read_types(options["types"]),
            by=current_user(),
        )
        self.stdout.write(f"Data set {dataset.pk} is ready: manage.py eddm activate {dataset.pk}")

    def _export(self, options: dict[str, Any]) -> None:
        lines = export_lines(_find_dataset(options["dataset"]))
        if options["output"] is None:
            for line in lines:
                self.stdout.write(line, ending="")
            return
        with options["output"].open("w", encoding="utf-8") as target:
            target.writelines(lines)
        self.stderr.write(f"Written to {options['output']}.")


def _find_dataset(dataset_id: int | None) -> Dataset:
    dataset = live_dataset() if dataset_id is None else loaded_datasets().filter(pk=dataset_id).first()
    if dataset is None:
        raise CommandError(
            "No data set is active." if dataset_id is None else f"There is no data set {dataset_id}."
        )
    return dataset
