// The test suite of `npm test`: schema, types, lint, unused code, all vitest projects, a thousand simulated clusters.
// The last line has the counts. `--coverage` measures how much of src the unit tests run.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { coverageFlags, coverageTable } from './coverage.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const isQuick = process.argv.includes('--quick')
const isMeasuring = process.argv.includes('--coverage')
const bin = (name) => path.join(root, 'node_modules/.bin', name)
const reports = mkdtempSync(path.join(tmpdir(), 'coxswain-test-'))

let failed = 0
let passed = 0

async function step(name, command, args, { isPatient = false } = {}) {
  const started = Date.now()
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (isPatient) setPriority(child.pid, 15)
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve))
  console.log(`${code === 0 ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  if (code === 0) passed++
  else failed++
}

async function vitest(name, projects, flags = []) {
  const report = path.join(reports, `${name}.json`)
  const chosen = projects.flatMap((project) => ['--project', project])
  await step(name, bin('vitest'), [
    'run',
    ...chosen,
    ...flags,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ])
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
    if (numPendingTests) console.log(`${numPendingTests} tests did not run`)
    passed += numPassedTests
    failed += numFailedTests + numPendingTests
  } catch {
    // Vitest wrote no report, so its step has already failed.
  }
}

const simulate = (name, ...seeds) =>
  step(
    name,
    process.execPath,
    ['scripts/run-ts.mjs', 'test/simulation/main.ts', ...seeds, '--steps', '2000', '--jobs', '2'],
    { isPatient: true },
  )

async function simulation() {
  await simulate('simulation', '--seeds', '800')
  await simulate('simulation of two servers', '--seed', '801', '--seeds', '200', '--servers', '2')
}

/** Tests with real processes and real time. */
async function processes() {
  await vitest('e2e', ['e2e'])
  await vitest('etcd', ['etcd'])
  await vitest('conformance', ['conformance'])
  await step('cri', process.execPath, ['scripts/test-cri.mjs'])
}

await step('build', process.execPath, ['scripts/build.mjs'])
await step('types', bin('tsc'), ['--noEmit'])
await step('types of the page', bin('tsc'), ['--noEmit', '-p', 'web'])
await step('lint', bin('oxlint'), ['--deny-warnings'])
await step('unused', bin('knip'), [])
await step('used by tests only', bin('knip'), ['--production', '--include', 'exports,types'])
await step('format', bin('oxfmt'), ['--check', 'src', 'web', 'scripts'])
await vitest('unit', ['unit'], isMeasuring ? coverageFlags : [])
if (isMeasuring) console.log(coverageTable())
// Tests with processes are mostly idle; the simulation uses the remaining CPU time.
if (!isQuick) await Promise.all([processes(), simulation()])

rmSync(reports, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
