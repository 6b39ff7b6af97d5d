import pytest
from django.db import IntegrityError, transaction

from accounts.models import Tenant
from fulfillment.core.db.copying import copy_rows


def test_errors_of_a_copy_are_those_of_other_statements(db):
    tenant = Tenant.objects.create(domain="copied.example", name="Copied")
    rows = [("other.example", "Other", tenant.created), (tenant.domain, "Again", tenant.created)]

    with pytest.raises(IntegrityError), transaction.atomic():
        copy_rows("accounts_tenant", ["domain", "name", "created"], rows)

    assert not Tenant.objects.filter(domain="other.example").exists()
