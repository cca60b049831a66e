"""A server of S3's language in a process of its own: moto's."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import httpx

START_SECONDS = 60


@contextmanager
def run_s3_server() -> Iterator[str]:
    """Its address. Buckets are made by PUT /name; whoever signs is let in, until `let_in_one_alone`."""
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MOTO_"))}
    # Into a file: a pipe that nobody reads fills up, and then the server stands still.
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            process.wait(20)


def let_in_one_alone(address: str, *, bucket: str) -> tuple[str, str]:
    """Id and secret of the one key whose signatures it takes from here on, in a bucket that it makes."""
    httpx.put(f"{address}/{bucket}").raise_for_status()
    rights = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [rights]})
    _manage(address, Action="CreateUser")
    _manage(address, Action="PutUserPolicy", PolicyName="all", PolicyDocument=policy)
    made = _manage(address, Action="CreateAccessKey")
    httpx.post(f"{address}/moto-api/reset-auth", content="0").raise_for_status()
    key, secret = (re.findall(f"<{name}>(.+?)</{name}>", made)[0] for name in ("AccessKeyId", "SecretAccessKey"))
    return key, secret


def _manage(address: str, **asked: str) -> str:
    """By the part of the credentials that names the service, the server knows that users are meant."""
    credentials = "AWS4-HMAC-SHA256 Credential=id/20200101/us-east-1/iam/aws4_request"
    asked |= {"UserName": "causeway", "Version": "2010-05-08"}
    answer = httpx.post(address, data=asked, headers={"Authorization": credentials})
    return answer.raise_for_status().text


def _address(process: subprocess.Popen[bytes], log: IO[str]) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        log.seek(0)
        for line in log:
            if "Running on http://" in line and line.endswith("\n"):
                return line.split()[-1]
        time.sleep(0.05)
    log.seek(0)
    raise AssertionError(f"the S3 server did not start: {log.read()}")
