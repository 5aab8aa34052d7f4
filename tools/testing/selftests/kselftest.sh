#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own runner, run_kselftest.sh, runs these tests, as kselftest_install
# leaves both: what this guest can run passes, what it cannot is skipped.
. ./lib.sh

need_host_command
for t in pmu_count perf_stat.sh abi_flow; do
	set -- "$@" -t pvperf:$t
done
(cd /kselftest && ./run_kselftest.sh "$@") > /tmp/out 2>&1
for t in pmu_count perf_stat.sh; do
	grep -q "^ok [0-9]* selftests: pvperf: $t\$" /tmp/out
	tap $? "$t passes" "$(grep "ok .*selftests: pvperf: $t" /tmp/out)"
done
grep -q '^ok [0-9]* selftests: pvperf: abi_flow # SKIP' /tmp/out
tap $? "abi_flow, which needs a host, is skipped" "$(grep 'ok .*selftests: pvperf: abi' /tmp/out)"

cat > /t/red.sh << 'END'
#!/bin/sh
. ./lib.sh
tap 1 "fails"
tap_end
END
chmod 755 /t/red.sh
echo pvperf:red.sh >> /kselftest/kselftest-list.txt
(cd /kselftest && ./run_kselftest.sh -t pvperf:red.sh) > /tmp/out 2>&1
grep -q '^not ok 1 selftests: pvperf: red.sh # exit=1' /tmp/out
tap $? "a test that fails is shown as failed" "$(tail -n 1 /tmp/out)"
rm /t/red.sh
sed -i '/:red.sh$/d' /kselftest/kselftest-list.txt
tap_end
