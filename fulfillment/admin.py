from fulfillment.site.admin import JobAdmin
