/** The tests that a mutation run uses: those of `npm test`. */

/** Of these paths, the tests that `npm test` runs: all but the slow suites. */
export function testFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => /^test\/(?!e2e\/).*\.test\.ts$/.test(path))
}
