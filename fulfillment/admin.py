from fulfillment.site.admin import BackgroundJobAdmin
