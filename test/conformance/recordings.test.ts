// Replays recordings of what a real Kubernetes answered against our server. They lie beside the checkout (../shared/recordings) or where
// RECORDINGS says. Scenarios that fail must be listed in docs/compatibility.md with the reason, and those listed must fail.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../kubectl/coxswain.ts'
import { kubectlBinary } from '../kubectl/kubectl-binary.ts'

const root = path.resolve(import.meta.dirname, '../..')
const recordings = process.env['RECORDINGS'] ?? path.resolve(root, '../shared/recordings')
const replayer = path.join(recordings, 'replay-api.mjs')

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

interface Tally {
  scenarios: string[]
  /** By name: the replayer's line. */
  failed: Map<string, string>
  otherWords: number
}

async function replay(name: string, kubeconfig: string): Promise<Tally> {
  const file = path.join(recordings, `${name}.json`)
  // The replayer asks a kubectl on the path to read the kubeconfig.
  const env = { ...process.env, PATH: `${path.dirname(kubectlBinary())}${path.delimiter}${process.env['PATH']}` }
  const { stdout } = await promisify(execFile)(process.execPath, [replayer, kubeconfig, file, '--verbose'], { env, maxBuffer: 1 << 28 })
  const scenarios = (JSON.parse(readFileSync(file, 'utf8')) as { scenarios: { name: string }[] }).scenarios.map((s) => s.name)
  const lines = stdout.split('\n')
  const failed = new Map<string, string>()
  for (const line of lines.filter((l) => l.startsWith('FAIL '))) {
    // A name may be the beginning of another: the longest that fits is meant.
    const fitting = scenarios.filter((s) => line.startsWith(`FAIL ${s}: `)).sort((a, b) => b.length - a.length)
    failed.set(fitting[0] ?? line, line)
  }
  return { scenarios, failed, otherWords: lines.filter((l) => l.startsWith('WORDS ')).length }
}

if (existsSync(replayer)) {
  describe('the server answers as a recorded Kubernetes', () => {
    const known = knownDifferences()
    let server: RunningServer
    let dataDir: string

    beforeAll(async () => {
      dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-conformance-'))
      // What the recordings were made with.
      const gates = 'DaemonSetConditions=false,StatefulSetConditions=false'
      server = await startServer(dataDir, ['--feature-gates', gates, '--disable-admission-plugins', 'ServiceAccount', '--log-level', 'error'])
    })

    afterAll(async () => {
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    })

    it.each(['workloads', 'pods', 'kinds', 'protocol'])('in %s, but for what docs/compatibility.md lists', async (name) => {
      const { scenarios, failed, otherWords } = await replay(name, server.kubeconfig)
      const unlisted = [...failed].filter(([scenario]) => !known.has(scenario)).map(([, line]) => line)
      const mended = scenarios.filter((s) => known.has(s) && !failed.has(s))
      expect({ unlisted, mended }).toEqual({ unlisted: [], mended: [] })
      const counted = scenarios.length - scenarios.filter((s) => known.get(s)?.startsWith('later')).length
      const passed = scenarios.length - failed.size
      console.log(`${name}: ${scenarios.length} scenarios, ${passed - otherWords} to the letter, ${otherWords} with other words, ${failed.size} listed`)
      expect(passed / counted).toBeGreaterThanOrEqual(passShare)
      expect((passed - otherWords) / counted).toBeGreaterThanOrEqual(letterShare)
    })
  })
} else {
  it('there are no recordings to replay', () => {
    expect(existsSync(replayer)).toBe(false)
  })
}
