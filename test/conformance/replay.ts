// Recordings of what a real Kubernetes did lie beside the checkout (../shared/recordings) or where RECORDINGS says. Scenarios that fail must be listed in
// docs/compatibility.md with the reason, and those listed must fail.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { kubectlBinary } from '../kubectl/kubectl-binary.ts'

const root = path.resolve(import.meta.dirname, '../..')
const recordings = process.env['RECORDINGS'] ?? path.resolve(root, '../shared/recordings')

/** True if there are recordings for this program. */
export const canReplay = (replayer: string): boolean => existsSync(path.join(recordings, replayer))

/** The feature gates of the recorded cluster. */
export const recordedGates = 'DaemonSetConditions=false,StatefulSetConditions=false'
export const recordedFlags = ['--feature-gates', recordedGates, '--disable-admission-plugins', 'ServiceAccount', '--allow-privileged=false', '--log-level', 'error']

/** Scenario names with their section: items of docs/compatibility.md below a heading that begins with "Scenarios: ". */
export function knownDifferences(): Map<string, string> {
  const known = new Map<string, string>()
  let section = ''
  for (const line of readFileSync(path.join(root, 'docs/compatibility.md'), 'utf8').split('\n')) {
    if (line.startsWith('#')) section = /^#+ Scenarios: (.*)$/.exec(line)?.[1] ?? ''
    const item = /^- `(.+?)`/.exec(line)
    if (item && section) known.set(item[1]!, section)
  }
  return known
}

/** The result of a replay. */
export interface Tally {
  scenarios: string[]
  /** By name: the replayer's line. */
  failed: Map<string, string>
  /** Passed with another text of a message, by name: the replayer's line. */
  otherWords: Map<string, string>
}

export interface ReplayOptions {
  /** Only scenarios whose name holds this. */
  only?: string
  env?: Record<string, string>
}

/** Replays a file of recordings. */
export async function replay(replayer: string, name: string, kubeconfig: string, { only = '', env: more = {} }: ReplayOptions = {}): Promise<Tally> {
  const file = path.join(recordings, `${name}.json`)
  // The replayer asks a kubectl on the path to read the kubeconfig.
  const env = { ...process.env, PATH: `${path.dirname(kubectlBinary())}${path.delimiter}${process.env['PATH']}`, ...more }
  const args = [path.join(recordings, replayer), kubeconfig, file, '--verbose', ...(only ? ['--only', only] : [])]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 28 })
  const all = (JSON.parse(readFileSync(file, 'utf8')) as { scenarios: { name: string }[] }).scenarios.map((s) => s.name)
  const scenarios = all.filter((s) => s.includes(only))
  const lines = stdout.split('\n')
  const told = (word: 'FAIL' | 'WORDS') => {
    const found = new Map<string, string>()
    for (const line of lines.filter((l) => l.startsWith(`${word} `))) {
      // A name may be the beginning of another: the longest that fits is meant.
      const fitting = scenarios.filter((s) => line.startsWith(`${word} ${s}: `)).sort((a, b) => b.length - a.length)
      found.set(fitting[0] ?? line, line)
    }
    return found
  }
  return { scenarios, failed: told('FAIL'), otherWords: told('WORDS') }
}

/** The section of scenarios that pass, with another text of a message. */
const otherText = 'other words'

/** Scenarios that fail, or have other words, and are not listed so; and those that are listed and do neither. */
export function surprises({ scenarios, failed, otherWords }: Tally, known: ReadonlyMap<string, string>): { unlisted: string[]; mended: string[] } {
  const isListed = (scenario: string, asWords: boolean) => known.has(scenario) && (known.get(scenario) === otherText) === asWords
  const left = (found: ReadonlyMap<string, string>, asWords: boolean) =>
    [...found].filter(([scenario]) => !isListed(scenario, asWords)).map(([, line]) => line)
  return {
    unlisted: [...left(failed, false), ...left(otherWords, true)],
    mended: scenarios.filter((s) => known.has(s) && !(known.get(s) === otherText ? otherWords : failed).has(s)),
  }
}
