import { type Command, Option } from 'commander'
import { type LocalNodes, type RunningEverything, runEverything } from '../cluster/index.ts'
import { addLocalNodeFlags, readLocalNodeFlags } from './node-flags.ts'
import { addMonitorChoices, readMonitorChoices } from './monitor-flags.ts'
import { bool, port } from './flag-values.ts'
import { progressOn } from './progress.ts'
import { addServingCommand } from './serving-command.ts'

/** What commander makes of the flags that only `up` has. */
interface ParsedFlags {
  runtime: 'auto' | 'process' | 'simulated'
  dashboard: boolean
  dashboardPort: number
}

/** `coxswain up`: everything there is, in one process. */
export function addUpCommand(program: Command, release: string): void {
  const command = program
    .command('up')
    .description('run everything in one process: API server, controllers, scheduler, nodes and monitor')
    .addOption(new Option('--runtime <name>', 'what runs the containers; auto takes the best there is').choices(['auto', 'process', 'simulated']).default('auto'))
    .addOption(new Option('--dashboard [bool]', 'serve the dashboard on the loopback interface').argParser(bool).preset('true').default(true))
    .option('--dashboard-port <port>', 'the port of the dashboard; a free one if it is taken, or 0', port, 9465)
  addLocalNodeFlags(command)
  addMonitorChoices(command)
  addServingCommand(command, release, {
    start: (options) => runEverything({ ...options, ...localNodes(command), ...dashboardChoice(command), monitor: readMonitorChoices(command, 'set'), progress: progressOn(process.stderr) }),
    welcome: (running, dataDir) => welcome(release, running, dataDir, localNodes(command)),
  })
}

const dashboardChoice = (command: Command) => {
  const { dashboard, dashboardPort } = command.opts<ParsedFlags>()
  return { dashboardPort: dashboard ? dashboardPort : undefined }
}

function localNodes(command: Command): LocalNodes {
  const { runtime } = command.opts<ParsedFlags>()
  return readLocalNodeFlags(command, runtime === 'auto' ? 'process' : runtime)
}

const welcome = (release: string, { kubeconfig, dashboard }: RunningEverything, dataDir: string, { runtime, shutdown }: LocalNodes) =>
  console.log(`
Coxswain ${release} is up. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl create deployment web --image=nginx --replicas=3
  kubectl wait --for=condition=Available deployment/web
  kubectl get pods -o wide
${dashboard ? `\nDashboard (this link works once): ${dashboard.link()}\n` : ''}
${runtime === 'process' ? 'Pods are processes of this machine; an image without a command answers HTTP on the ports it declares.' : 'Nodes are simulated: pods run nothing, and take no time.'}
Ctrl-C stops it; ${afterwards(runtime, shutdown !== undefined)}. Everything is kept in ${dataDir}.`)

const afterwards = (runtime: LocalNodes['runtime'], endsPods: boolean) =>
  endsPods ? 'pods are ended first' : runtime === 'process' ? 'pods go on and are found again at the next start' : 'pods are started anew at the next start'
