def pytest_addoption(parser):
    parser.addoption("--crashes", type=int, default=6, help="how many processes to kill under load")
