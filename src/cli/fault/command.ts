import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../../base/clock.ts'
import { type FaultPlanOptions, type FaultRule, editFaults } from '../../cluster/index.ts'
import { count, durationMs } from '../flags/flag-values.ts'

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
  const fault = program.command('fault').description('inject faults into nodes, and clear them')
  const sub = (usage: string, description: string) =>
    fault
      .command(usage)
      .description(description)
      .option(
        '--kubeconfig <file>',
        'kubeconfig of the API server (default: $KUBECONFIG or ~/.kube/config, as kubectl)',
      )
  const planOf = (command: Command): FaultPlanOptions => ({
    kubeconfig: command.opts<{ kubeconfig?: string }>().kubeconfig,
    release,
  })

  const add = sub(
    'add [stage]',
    'stages: volumes, csi, network, ipam, sandbox, runtime-handler, sandbox-crash, image, container, heartbeat, memory-pressure, disk-pressure, pid-pressure',
  )
    .option('-f, --filename <file>', 'file with a fault plan, instead of a stage')
    .option('--name <name>', 'unique name of the fault (default: the stage)')
    .option('--pod <name>', 'affected pods; * matches any text')
    .option('-n, --namespace <name>', 'namespace of affected pods; * matches any text')
    .option('-l, --selector <selector>', 'label selector of affected pods')
    .option('--nodes <name>', 'affected nodes; * matches any text')
    .option('--container <name>', 'affected container')
    .option('--driver <name>', 'affected CSI driver, for stage csi; * matches any text')
    .option('--delay <duration>', 'delay of the stage')
    .option('--fail [message]', 'let the stage fail with this message')
    .option('--times <number>', 'maximum number of times per pod', count)
    .option('--chance <share>', 'probability, from 0 to 1', chance)
    .option('--for <duration>', 'duration of the fault from now on', durationMs)
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

  const list = sub('list', 'list faults').action(async () => {
    const { faultsOf } = await editFaults()
    const { rules, problems } = await faultsOf(planOf(list))
    for (const rule of rules) console.log(faultLine(rule))
    for (const problem of problems) console.error(`ignored: ${problem}`)
    if (rules.length === 0) console.error('No faults.')
  })

  const clear = sub('clear [names...]', 'remove the named faults, or all').action(async (names: string[]) => {
    const { removeFaults } = await editFaults()
    for (const name of await removeFaults(planOf(clear), names)) console.log(`fault/${name} cleared`)
  })
}
