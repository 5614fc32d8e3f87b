import { type ChildProcess, fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { type Breakage, breakages } from './breakage.ts'
import { profileNames } from './profile.ts'
import { run } from './run.ts'
import { scenarioNames } from './scenarios/index.ts'

const usage = `usage: npm run simulate -- [--seed N] [--steps M] [--seeds K] [--profile P] [--scenario S] [--break PART] [--jobs J] [--history]

  --seed N      the first seed (1)
  --steps M     steps with faults in each run (2000)
  --seeds K     how many seeds, from N on (1)
  --profile P   ${profileNames.join(', ')} (swarm)
  --servers N   API servers over one store, each with a lag of its own (1)
  --scenario S  ${scenarioNames.join(', ')} (any: the seed decides)
  --break PART  runs with a part that is broken on purpose: ${Object.keys(breakages).join(', ')}
  --jobs J      processes at the same time (1)
  --history     prints all that happened, also of a run that passes`

interface Settings {
  seed: number
  steps: number
  seeds: number
  profile: string
  servers: number
  scenario: string
  breakage: Breakage | undefined
  jobs: number
  history: boolean
}

/** The number of lines printed for a failed run. */
const lastLines = 60

interface Tally {
  runs: number
  steps: number
  virtualMs: number
  revisions: number
  failures: number
}

function readSettings(args: string[]): Settings {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: '1' },
      steps: { type: 'string', default: '2000' },
      seeds: { type: 'string', default: '1' },
      profile: { type: 'string', default: 'swarm' },
      servers: { type: 'string', default: '1' },
      scenario: { type: 'string', default: 'any' },
      break: { type: 'string' },
      jobs: { type: 'string', default: '1' },
      history: { type: 'boolean', default: false },
    },
  })
  const count = (name: 'seed' | 'steps' | 'seeds' | 'servers' | 'jobs') => {
    const value = Number(values[name])
    if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} takes a whole number, not ${JSON.stringify(values[name])}`)
    return value
  }
  if (!profileNames.includes(values.profile)) throw new Error(`there is no profile ${JSON.stringify(values.profile)}: ${profileNames.join(', ')}`)
  if (!scenarioNames.includes(values.scenario)) throw new Error(`there is no scenario ${JSON.stringify(values.scenario)}: ${scenarioNames.join(', ')}`)
  if (values.break !== undefined && !(values.break in breakages)) throw new Error(`nothing is called ${JSON.stringify(values.break)}: ${Object.keys(breakages).join(', ')}`)
  return {
    seed: count('seed'),
    steps: count('steps'),
    seeds: count('seeds'),
    profile: values.profile,
    servers: Math.max(1, count('servers')),
    scenario: values.scenario,
    breakage: values.break as Breakage | undefined,
    jobs: Math.max(1, count('jobs')),
    history: values.history,
  }
}

const commandFor = ({ steps, profile, servers, scenario, breakage }: Settings, seed: number): string =>
  `npm run simulate -- --seed ${seed} --steps ${steps} --profile ${profile}${servers > 1 ? ` --servers ${servers}` : ''} --scenario ${scenario}${breakage ? ` --break ${breakage}` : ''}`

/** Runs the seeds in order until one fails. */
async function runHere(settings: Settings): Promise<Tally> {
  const tally: Tally = { runs: 0, steps: 0, virtualMs: 0, revisions: 0, failures: 0 }
  for (let { seed } = settings; seed < settings.seed + settings.seeds; seed++) {
    const result = await run({ seed, steps: settings.steps, profile: settings.profile, servers: settings.servers, scenario: settings.scenario, breakage: settings.breakage })
    tally.runs++
    tally.steps += result.steps
    tally.virtualMs += result.virtualMs
    tally.revisions += result.revisions
    if (settings.history) console.log(result.history().join('\n'))
    if (!result.violation) continue
    tally.failures++
    const { invariant, text } = result.violation
    console.log(`seed ${seed} fails in step ${result.steps}: ${invariant}\n  ${text}\n`)
    if (!settings.history) console.log(`${result.history(lastLines).join('\n')}\n`)
    console.log(`the same again: ${commandFor(settings, seed)}`)
    break
  }
  return tally
}

/** Runs the seeds in several processes, each with its own range. */
async function runApart(settings: Settings): Promise<Tally> {
  const size = Math.ceil(settings.seeds / settings.jobs)
  const children: Promise<Tally>[] = []
  for (let from = 0; from < settings.seeds; from += size) {
    const seeds = Math.min(size, settings.seeds - from)
    children.push(tallyOf(fork(process.argv[1]!, argumentsFor({ ...settings, seed: settings.seed + from, seeds, jobs: 1 }))))
  }
  const tallies = await Promise.all(children)
  return tallies.reduce((a, b) => ({
    runs: a.runs + b.runs,
    steps: a.steps + b.steps,
    virtualMs: a.virtualMs + b.virtualMs,
    revisions: a.revisions + b.revisions,
    failures: a.failures + b.failures,
  }))
}

const argumentsFor = ({ seed, seeds, steps, profile, servers, scenario, breakage }: Settings): string[] =>
  ['--seed', String(seed), '--seeds', String(seeds), '--steps', String(steps), '--profile', profile, '--servers', String(servers), '--scenario', scenario].concat(breakage ? ['--break', breakage] : [])

function tallyOf(child: ChildProcess): Promise<Tally> {
  return new Promise((resolve, reject) => {
    child.once('message', (tally) => resolve(tally as Tally))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`a simulating process ended with ${code} before it was done`)))
  })
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) return console.log(usage)
  const settings = readSettings(process.argv.slice(2))
  const startedMs = performance.now()
  const tally = settings.jobs > 1 && settings.seeds > 1 ? await runApart(settings) : await runHere(settings)
  if (process.send) {
    process.send(tally)
    process.disconnect()
    return
  }
  const seconds = (performance.now() - startedMs) / 1000
  const { runs, steps, virtualMs, revisions, failures } = tally
  console.log(
    `${runs} runs, ${failures} failed: ${steps} steps, ${revisions} revisions, ${(virtualMs / 3_600_000).toFixed(1)} hours of cluster time in ${seconds.toFixed(1)} s (${((seconds * 1e6) / steps).toFixed(0)} µs a step)`,
  )
  if (failures > 0) process.exitCode = 1
}

await main().catch((e: unknown) => {
  console.error(`${e instanceof Error ? e.message : String(e)}\n\n${usage}`)
  process.exitCode = 2
})
