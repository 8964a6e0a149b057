"""The Evaluate page: golden questions, runs over them, what came of them, and thresholds that follow."""
