# SPDX-License-Identifier: Apache-2.0
"""The wheel's tag: any Python 3, one platform. setuptools itself knows pure Python or one Python version only."""
from setuptools import Distribution, setup


class ProgramDistribution(Distribution):
    def has_ext_modules(self):
        return True


class ProgramWheel(Distribution().get_command_class("bdist_wheel")):
    def get_tag(self):
        return "py3", "none", self.plat_name


setup(distclass=ProgramDistribution, cmdclass={"bdist_wheel": ProgramWheel})
