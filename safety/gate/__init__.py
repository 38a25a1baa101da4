"""What a model may do: it proposes, the code here decides. Knows no framework and no network."""
