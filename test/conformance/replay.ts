// Replays recordings of what a real Kubernetes answered against our server: `npm run conformance [-- FILE…]`.
// The recordings lie beside the checkout (../shared/recordings) or where RECORDINGS says; where there are none, nothing is replayed.
// Scenarios that fail must be listed in docs/compatibility.md with the reason, and those listed must fail.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureKubectl } from '../kubectl/binary.ts'

const root = process.cwd()
const recordings = process.env['RECORDINGS'] ?? path.resolve(root, '../shared/recordings')
const asked = process.argv.slice(2)
const files = asked.length ? asked : ['workloads', 'pods', 'kinds', 'protocol']

/** At least this share of each file must pass, and this share to the letter, leaving out what comes later. */
const passShare = 0.95
const letterShare = 0.9

/** Scenario names with their section: items of docs/compatibility.md below a heading that begins with "Scenarios: ". */
function knownDifferences(): Map<string, string> {
  const known = new Map<string, string>()
  let section = ''
  for (const line of readFileSync(path.join(root, 'docs/compatibility.md'), 'utf8').split('\n')) {
    if (line.startsWith('#')) section = /^#+ Scenarios: (.*)$/.exec(line)?.[1] ?? ''
    const item = /^- `(.+?)`/.exec(line)
    if (item && section) known.set(item[1]!, section)
  }
  return known
}

async function startServer(dataDir: string) {
  const flags = ['--store', 'memory', '--secure-port', '0', '--data-dir', dataDir, '--log-level', 'error']
  // What the recordings were made with.
  const likeTheirs = ['--feature-gates', 'DaemonSetConditions=false,StatefulSetConditions=false', '--disable-admission-plugins', 'ServiceAccount']
  const child = spawn(process.execPath, ['bin/coxswain', 'apiserver', ...flags, ...likeTheirs], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      const ready = /^ready \S+ kubeconfig (.+)$/m.exec(out)
      if (ready) resolve(ready[1]!)
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  return { child, kubeconfig }
}

interface Tally {
  name: string
  scenarios: string[]
  failed: Map<string, string>
  otherWords: number
}

function replay(name: string, kubeconfig: string, env: NodeJS.ProcessEnv): Tally {
  const file = path.join(recordings, `${name}.json`)
  const { stdout } = spawnSync(process.execPath, [path.join(recordings, 'replay-api.mjs'), kubeconfig, file, '--verbose'], { env, encoding: 'utf8', maxBuffer: 1 << 28 })
  const scenarios = (JSON.parse(readFileSync(file, 'utf8')) as { scenarios: { name: string }[] }).scenarios.map((s) => s.name)
  const lines = stdout.split('\n')
  const failed = new Map<string, string>()
  for (const line of lines.filter((l) => l.startsWith('FAIL '))) {
    // A name may be the beginning of another: the longest that fits is meant.
    const fitting = scenarios.filter((s) => line.startsWith(`FAIL ${s}: `)).sort((a, b) => b.length - a.length)
    failed.set(fitting[0] ?? line, line)
  }
  return { name, scenarios, failed, otherWords: lines.filter((l) => l.startsWith('WORDS ')).length }
}

function judge({ name, scenarios, failed, otherWords }: Tally, known: Map<string, string>): string[] {
  const problems: string[] = []
  for (const [scenario, line] of failed) if (!known.has(scenario)) problems.push(`not listed in docs/compatibility.md: ${line}`)
  for (const scenario of scenarios) if (known.has(scenario) && !failed.has(scenario)) problems.push(`listed in docs/compatibility.md, but passes: ${scenario}`)
  const counted = scenarios.length - scenarios.filter((s) => known.get(s)?.startsWith('later')).length
  const passed = scenarios.length - failed.size
  if (passed < counted * passShare) problems.push(`${name}: only ${passed} of ${counted} pass`)
  if (passed - otherWords < counted * letterShare) problems.push(`${name}: only ${passed - otherWords} of ${counted} pass to the letter`)
  return problems
}

if (!existsSync(path.join(recordings, 'replay-api.mjs'))) {
  console.log('conformance: no recordings here, nothing to replay')
  process.exit(0)
}
const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-conformance-'))
const kubectl = ensureKubectl()
const { child, kubeconfig } = await startServer(dataDir)
const env = { ...process.env, PATH: `${path.dirname(kubectl)}${path.delimiter}${process.env['PATH']}` }
const known = knownDifferences()
const problems: string[] = []
let passed = 0
try {
  for (const file of files) {
    const tally = replay(file, kubeconfig, env)
    const { scenarios, failed, otherWords } = tally
    passed += scenarios.length - failed.size
    console.log(`${file}: ${scenarios.length} scenarios, ${scenarios.length - failed.size - otherWords} to the letter, ${otherWords} with other words, ${failed.size} not`)
    problems.push(...judge(tally, known))
  }
} finally {
  child.removeAllListeners('exit')
  child.kill('SIGTERM')
  rmSync(dataDir, { recursive: true, force: true })
}
for (const problem of problems) console.log(problem)
console.log(`conformance: ${passed} scenarios answered as recorded, ${problems.length} surprises`)
process.exit(problems.length ? 1 : 0)
