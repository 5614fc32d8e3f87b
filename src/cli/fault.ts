import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../base/clock.ts'
import { type FaultPlanOptions, type FaultRule, editFaults } from '../cluster/index.ts'
import { count, durationMs } from './flags/flag-values.ts'

const chance = (text: string): number => {
  if (!/^(0?\.\d+|1)$/.test(text)) throw new InvalidArgumentError('must be greater than 0 and at most 1')
  return Number(text)
}

interface AddFlags {
  filename?: string
  name?: string
  pod?: string
  namespace?: string
  selector?: string
  nodes?: string
  container?: string
  driver?: string
  delay?: string
  fail?: string | true
  times?: number
  chance?: number
  for?: number
}

/** Returns the fault of a command line. `nowMs` is its start. */
export function faultOf(stage: string, flags: AddFlags, nowMs: number): Record<string, unknown> {
  const { pod, namespace, selector } = flags
  const pods = { ...(pod ? { name: pod } : {}), ...(namespace ? { namespace } : {}), ...(selector ? { selector } : {}) }
  const given = {
    nodes: flags.nodes,
    container: flags.container,
    driver: flags.driver,
    delay: flags.delay,
    fail: flags.fail,
    times: flags.times,
    chance: flags.chance,
  }
  return {
    name: flags.name ?? stage,
    stage,
    ...(Object.keys(pods).length > 0 ? { pods } : {}),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    // An absolute time: a restarted node must not restart the duration.
    ...(flags.for === undefined ? {} : { until: new Date(nowMs + flags.for).toISOString() }),
  }
}

/** Formats a fault as one line. */
export function faultLine({
  name,
  stage,
  pods,
  nodes,
  container,
  driver,
  delay,
  fail,
  times,
  chance,
  after,
  for: lasts,
  until,
}: FaultRule): string {
  const isOfNode = stage === 'heartbeat' || stage.endsWith('-pressure')
  const who = [
    pods
      ? `pods ${pods.namespace ? `${pods.namespace}/` : ''}${pods.name ?? '*'}${pods.selector ? ` with ${pods.selector}` : ''}`
      : isOfNode
        ? ''
        : 'all pods',
    nodes ? `on ${nodes}` : isOfNode ? 'all nodes' : '',
    container ? `container ${container}` : '',
    driver ? `volumes of ${driver}` : '',
  ]
  const what = [
    delay ? `${delay} late` : '',
    delay && fail ? 'and' : '',
    fail ? `fails${fail === true ? '' : `: ${fail}`}` : '',
  ]
  const when = [
    times ? `${times} times` : '',
    chance ? `with chance ${chance}` : '',
    after ? `after ${after}` : '',
    lasts ? `for ${lasts}` : '',
    until ? `until ${until}` : '',
  ]
  return `${name}\t${stage}\t${[who, what, when]
    .map((part) => part.filter(Boolean).join(' '))
    .filter(Boolean)
    .join(', ')}`
}

/** `coxswain fault`: injects faults into the nodes of a cluster, and removes them. */
export function addFaultCommand(program: Command, release: string): void {
  const fault = program.command('fault').description('make things go wrong on nodes, and right again')
  const sub = (usage: string, description: string) =>
    fault
      .command(usage)
      .description(description)
      .option('--kubeconfig <file>', 'how to reach the API server (default: as kubectl does)')
  const planOf = (command: Command): FaultPlanOptions => ({
    kubeconfig: command.opts<{ kubeconfig?: string }>().kubeconfig,
    release,
  })

  const add = sub(
    'add [stage]',
    'stages: volumes, csi, network, ipam, sandbox, runtime-handler, sandbox-crash, image, container, heartbeat, memory-pressure, disk-pressure, pid-pressure',
  )
    .option('-f, --filename <file>', 'a fault plan, instead of a stage')
    .option('--name <name>', 'what it is called, as no other is (default: as the stage)')
    .option('--pod <name>', 'the pods that it meets, with * for anything')
    .option('-n, --namespace <name>', 'their namespace, with * for anything')
    .option('-l, --selector <selector>', 'their labels')
    .option('--nodes <name>', 'the nodes that it meets, with * for anything')
    .option('--container <name>', 'the container that it meets')
    .option('--driver <name>', 'the driver of volumes that it meets (csi), with * for anything')
    .option('--delay <duration>', 'how much longer the stage takes')
    .option('--fail [message]', 'that the stage fails')
    .option('--times <number>', 'how often for each pod', count)
    .option('--chance <share>', 'how likely each time', chance)
    .option('--for <duration>', 'for how long from now on', durationMs)
  add.action(async (stage: string | undefined) => {
    const flags = add.opts<AddFlags>()
    if ((stage === undefined) === (flags.filename === undefined))
      throw new Error('fault add takes a stage, or a file with -f')
    const { addFault, addFaultFile } = await editFaults()
    const added = flags.filename
      ? await addFaultFile(planOf(add), flags.filename)
      : await addFault(planOf(add), faultOf(stage!, flags, systemClock.now()))
    for (const rule of added) console.log(`fault/${rule.name} added`)
  })

  const list = sub('list', 'what goes wrong').action(async () => {
    const { faultsOf } = await editFaults()
    const { rules, problems } = await faultsOf(planOf(list))
    for (const rule of rules) console.log(faultLine(rule))
    for (const problem of problems) console.error(`left out: ${problem}`)
    if (rules.length === 0) console.error('No faults.')
  })

  const clear = sub('clear [names...]', 'take faults away, all of them without names').action(
    async (names: string[]) => {
      const { removeFaults } = await editFaults()
      for (const name of await removeFaults(planOf(clear), names)) console.log(`fault/${name} cleared`)
    },
  )
}
