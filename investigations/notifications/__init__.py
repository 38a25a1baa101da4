"""What the product tells the world by itself. Nothing here knows the database."""
