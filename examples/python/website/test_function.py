"""python3 -m unittest"""

import unittest

from drover.testing import call_for
from function import compose

SPEC = {"html": "Hi", "image": "web:1", "replicas": 2}


class ComposeTest(unittest.TestCase):
    def test_declares_a_page_that_is_served(self) -> None:
        page, deployment, service = compose(call_for(SPEC, name="a")).children
        self.assertEqual(page["data"], {"index.html": "Hi"})
        self.assertEqual(deployment["spec"]["replicas"], 2)
        self.assertEqual(service["spec"]["selector"], deployment["spec"]["template"]["metadata"]["labels"])

    def test_waits_for_its_secret_and_gives_it_to_the_web_server(self) -> None:
        spec = {**SPEC, "secretName": "words"}
        self.assertEqual(compose(call_for(spec)).message, "Create the Secret words.")
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "words", "namespace": "default", "resourceVersion": "7"},
        }
        _, deployment, _ = compose(call_for(spec, related=[secret])).children
        template = deployment["spec"]["template"]
        self.assertEqual(template["metadata"]["annotations"], {"example.com/secret-version": "7"})
        self.assertEqual(template["spec"]["containers"][0]["envFrom"], [{"secretRef": {"name": "words"}}])

    def test_reports_the_replicas_that_are_ready(self) -> None:
        running = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a"},
            "status": {"readyReplicas": 1},
        }
        status = compose(call_for(SPEC, name="a", children=[running])).status
        self.assertEqual(status, {"address": "http://a.default.svc", "readyReplicas": 1})


if __name__ == "__main__":
    unittest.main()
