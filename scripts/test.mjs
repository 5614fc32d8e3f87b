// The whole suite, as `npm test` runs it: schema, types, lint, all vitest projects, a thousand simulated clusters. Ends with one line of counts.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const isQuick = process.argv.includes('--quick')
const bin = (name) => path.join(root, 'node_modules/.bin', name)
const report = path.join(mkdtempSync(path.join(tmpdir(), 'coxswain-test-')), 'vitest.json')

let failed = 0
let passed = 0

function step(name, command, args) {
  const started = Date.now()
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  console.log(`${status === 0 ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  if (status === 0) passed++
  else failed++
}

step('build', process.execPath, ['scripts/build.mjs'])
step('types', bin('tsc'), ['--noEmit'])
step('lint', bin('oxlint'), ['--deny-warnings'])
const projects = isQuick ? ['--project', 'unit'] : []
step('tests', bin('vitest'), ['run', ...projects, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`])
if (!isQuick) {
  const size = ['--seeds', '1000', '--steps', '2000', '--jobs', String(availableParallelism())]
  step('simulation', process.execPath, ['scripts/run-ts.mjs', 'test/simulation/main.ts', ...size])
}

try {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
  if (numPendingTests) console.log(`${numPendingTests} tests did not run`)
  passed += numPassedTests
  failed += numFailedTests + numPendingTests
} catch {
  // Vitest did not get as far as a report: its step has failed already.
}
rmSync(path.dirname(report), { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
