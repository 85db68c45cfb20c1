# Sums up a run of ctest: argument 1 is its standard output (how each test ended), argument 2 its LastTest.log (what each
# test wrote). Exits with 1 where a test failed or none ran.

# "12/20 Test #3: base/test_str ....   Passed    0.01 sec"
FNR == NR && /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    name = $0
    sub(/^[^:]*: /, "", name)
    sub(/ \.*[ *].*$/, "", name)
    ended[name] = /   Passed / ? "passed" : /\*\*\*Skipped / ? "skipped" : "failed"
    next
}
FNR == NR { next }

/^[0-9]+\/[0-9]+ Test: / {
    test = $0
    sub(/^[^:]*: /, "", test)
    cases_over = 0
    next
}
/^SKIPPED: / {
    skipped_lines[++skip_count] = "  " test ": " substr($0, 10)
    said[test]++
}
/^\[==========\] [0-9]+ test\(s\) run/ { cases_over = 1 }
cases_over { next }
/^\[ RUN      \] / { said_before = said[test] }
/^\[       OK \] / { ok[test]++ }
/^\[  FAILED  \] / { bad[test]++ }
/^\[  SKIPPED \] / {
    skips[test]++
    if (said[test] == said_before) {
        skipped_lines[++skip_count] = "  " test ": " substr($0, 14)
        said[test]++
    }
}

END {
    for (test in ended) {
        passed += ok[test]
        if (ended[test] == "failed") {
            failed += bad[test] > 0 ? bad[test] : 1
        } else if (ended[test] == "passed" && ok[test] + skips[test] == 0) {
            passed++
        } else if (ended[test] == "skipped" && said[test] == 0) {
            skipped_lines[++skip_count] = "  " test
        }
    }
    if (skip_count > 0) {
        print "\nskipped:"
        for (k = 1; k <= skip_count; k++) {
            print skipped_lines[k]
        }
    }
    printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skip_count
    exit failed > 0 || passed == 0
}
