"""He, Tian and Wu (2016), section 4: direct sampling of DAGs."""
