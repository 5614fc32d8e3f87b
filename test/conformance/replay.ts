// Replays recordings of what a real Kubernetes answered against our server: `npm run conformance [-- FILE…]`.
// The recordings lie beside the checkout (../shared/recordings) or where RECORDINGS says; where there are none, nothing is replayed.
// Scenarios that fail must be listed in docs/compatibility.md with the reason, and those listed must fail.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureKubectl } from '../kubectl/binary.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
const recordings = process.env.RECORDINGS ?? path.resolve(root, '../shared/recordings')
const wanted = process.argv.slice(2)
const files = wanted.length ? wanted : ['workloads', 'pods', 'kinds', 'protocol']
if (!existsSync(path.join(recordings, 'replay-api.mjs'))) {
  console.log('conformance: no recordings here, nothing to replay')
  process.exit(0)
}

/** At least this share of each file must pass, and this share to the letter, leaving out what comes later. */
const passShare = 0.95
const letterShare = 0.9

/** Scenario names by the reason's section: `- \`name\`` items of docs/compatibility.md below a heading "Scenarios: …". */
function knownDifferences() {
  const known = new Map()
  let section
  for (const line of readFileSync(path.join(root, 'docs/compatibility.md'), 'utf8').split('\n')) {
    const heading = /^#+ Scenarios: (.*)$/.exec(line)
    if (heading) section = heading[1]
    else if (line.startsWith('#')) section = undefined
    const item = /^- `(.+?)`/.exec(line)
    if (item && section) known.set(item[1], section)
  }
  return known
}

async function startServer(dataDir) {
  const flags = ['--store', 'memory', '--secure-port', '0', '--data-dir', dataDir, '--log-level', 'error']
  const gates = ['--feature-gates', 'DaemonSetConditions=false,StatefulSetConditions=false', '--disable-admission-plugins', 'ServiceAccount']
  const child = spawn(process.execPath, [path.join(root, 'bin/coxswain'), 'apiserver', ...flags, ...gates], { stdio: ['ignore', 'pipe', 'inherit'] })
  const kubeconfig = await new Promise((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
      const ready = /^ready \S+ kubeconfig (.+)$/m.exec(out)
      if (ready) resolve(ready[1])
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  return { child, kubeconfig }
}

const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-conformance-'))
const kubectl = await ensureKubectl()
const { child, kubeconfig } = await startServer(dataDir)
const known = knownDifferences()
const env = { ...process.env, PATH: `${path.dirname(kubectl)}${path.delimiter}${process.env.PATH}` }
let passed = 0
const problems = []
try {
  for (const name of files) {
    const file = path.join(recordings, `${name}.json`)
    const run = spawnSync(process.execPath, [path.join(recordings, 'replay-api.mjs'), kubeconfig, file, '--verbose'], { env, encoding: 'utf8', maxBuffer: 1 << 28 })
    const lines = run.stdout.split('\n')
    const total = JSON.parse(readFileSync(file, 'utf8')).scenarios.map((s) => s.name)
    const failed = new Map(lines.filter((l) => l.startsWith('FAIL ')).map((l) => [total.find((n) => l.startsWith(`FAIL ${n}: `)) ?? l, l]))
    const words = lines.filter((l) => l.startsWith('WORDS ')).length
    const later = total.filter((n) => known.get(n)?.startsWith('later')).length
    const counted = total.length - later
    const ok = total.length - failed.size
    for (const [scenario, line] of failed) if (!known.has(scenario)) problems.push(`not listed in docs/compatibility.md: ${line}`)
    for (const scenario of total) if (known.has(scenario) && !failed.has(scenario)) problems.push(`listed in docs/compatibility.md, but passes: ${scenario}`)
    if (ok / counted < passShare) problems.push(`${name}: only ${ok} of ${counted} pass`)
    if ((ok - words) / counted < letterShare) problems.push(`${name}: only ${ok - words} of ${counted} pass to the letter`)
    passed += ok
    console.log(`${name}: ${total.length} scenarios, ${ok - words} to the letter, ${words} with other words for the same error, ${failed.size} listed or failed`)
  }
} finally {
  child.removeAllListeners('exit')
  child.kill('SIGTERM')
  rmSync(dataDir, { recursive: true, force: true })
}
for (const problem of problems) console.log(problem)
console.log(`${passed} passed, ${problems.length} failed`)
process.exit(problems.length ? 1 : 0)
