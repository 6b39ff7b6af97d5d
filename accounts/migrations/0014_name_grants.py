"""Names of grants say what they permit: nothing changes in the database."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0013_reword_help_texts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='associationrequest',
            name='grants',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Application.All.Read', 'Read every application (Application.All.Read)'), ('Application.Self.Read', 'Read the applications you manage (Application.Self.Read)'), ('Application.All.Write', 'Change every application, its keys and its icon (Application.All.Write)'), ('Application.Self.Write', 'Change the applications you manage, their keys and icons (Application.Self.Write)'), ('Store.All.Read', 'See who works with a store, and their permissions (Store.All.Read)'), ('Store.Self.Read', 'Read stores, their products and your own roles (Store.Self.Read)'), ('Order.All.Read', 'Read every order of a store (Order.All.Read)'), ('Order.Self.Read', 'Read the orders you submitted (Order.Self.Read)'), ('Order.All.Write', 'Submit orders and change the status of every order of a store (Order.All.Write)'), ('Order.Self.Write', 'Submit orders and cancel your own (Order.Self.Write)'), ('Order.All.Approve', 'Approve or deny orders of a store that need approval (Order.All.Approve)'), ('Budget.All.Write', "Create and change a store's budgets (Budget.All.Write)")], max_length=32), blank=True, default=list, size=None),
        ),
        migrations.AlterField(
            model_name='associationrequestevent',
            name='grants',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Application.All.Read', 'Read every application (Application.All.Read)'), ('Application.Self.Read', 'Read the applications you manage (Application.Self.Read)'), ('Application.All.Write', 'Change every application, its keys and its icon (Application.All.Write)'), ('Application.Self.Write', 'Change the applications you manage, their keys and icons (Application.Self.Write)'), ('Store.All.Read', 'See who works with a store, and their permissions (Store.All.Read)'), ('Store.Self.Read', 'Read stores, their products and your own roles (Store.Self.Read)'), ('Order.All.Read', 'Read every order of a store (Order.All.Read)'), ('Order.Self.Read', 'Read the orders you submitted (Order.Self.Read)'), ('Order.All.Write', 'Submit orders and change the status of every order of a store (Order.All.Write)'), ('Order.Self.Write', 'Submit orders and cancel your own (Order.Self.Write)'), ('Order.All.Approve', 'Approve or deny orders of a store that need approval (Order.All.Approve)'), ('Budget.All.Write', "Create and change a store's budgets (Budget.All.Write)")], max_length=32), blank=True, default=list, size=None),
        ),
        migrations.AlterField(
            model_name='role',
            name='grant',
            field=models.CharField(choices=[('Application.All.Read', 'Read every application (Application.All.Read)'), ('Application.Self.Read', 'Read the applications you manage (Application.Self.Read)'), ('Application.All.Write', 'Change every application, its keys and its icon (Application.All.Write)'), ('Application.Self.Write', 'Change the applications you manage, their keys and icons (Application.Self.Write)'), ('Store.All.Read', 'See who works with a store, and their permissions (Store.All.Read)'), ('Store.Self.Read', 'Read stores, their products and your own roles (Store.Self.Read)'), ('Order.All.Read', 'Read every order of a store (Order.All.Read)'), ('Order.Self.Read', 'Read the orders you submitted (Order.Self.Read)'), ('Order.All.Write', 'Submit orders and change the status of every order of a store (Order.All.Write)'), ('Order.Self.Write', 'Submit orders and cancel your own (Order.Self.Write)'), ('Order.All.Approve', 'Approve or deny orders of a store that need approval (Order.All.Approve)'), ('Budget.All.Write', "Create and change a store's budgets (Budget.All.Write)")], max_length=32),
        ),
        migrations.AlterField(
            model_name='roleevent',
            name='grant',
            field=models.CharField(choices=[('Application.All.Read', 'Read every application (Application.All.Read)'), ('Application.Self.Read', 'Read the applications you manage (Application.Self.Read)'), ('Application.All.Write', 'Change every application, its keys and its icon (Application.All.Write)'), ('Application.Self.Write', 'Change the applications you manage, their keys and icons (Application.Self.Write)'), ('Store.All.Read', 'See who works with a store, and their permissions (Store.All.Read)'), ('Store.Self.Read', 'Read stores, their products and your own roles (Store.Self.Read)'), ('Order.All.Read', 'Read every order of a store (Order.All.Read)'), ('Order.Self.Read', 'Read the orders you submitted (Order.Self.Read)'), ('Order.All.Write', 'Submit orders and change the status of every order of a store (Order.All.Write)'), ('Order.Self.Write', 'Submit orders and cancel your own (Order.Self.Write)'), ('Order.All.Approve', 'Approve or deny orders of a store that need approval (Order.All.Approve)'), ('Budget.All.Write', "Create and change a store's budgets (Budget.All.Write)")], max_length=32),
        ),
    ]
