import { hostname } from 'node:os'
import { type Command, Option } from 'commander'
import { type LocalNodes, type RunningApi, runEverything } from '../cluster/index.ts'
import { count } from './flag-values.ts'
import { addServingCommand } from './serving-command.ts'

/** What commander makes of the flags that only `up` has. */
interface ParsedFlags {
  nodeName: string
  nodes: number
  runtime: 'auto' | 'process' | 'simulated'
  imageCatalogue?: string
}

/** `coxswain up`: everything there is, in one process. */
export function addUpCommand(program: Command, release: string): void {
  const command = program
    .command('up')
    .description('run everything in one process: API server, controllers, scheduler and nodes')
    .addOption(new Option('--runtime <name>', 'what runs the containers; auto takes the best there is').choices(['auto', 'process', 'simulated']).default('auto'))
    .option('--nodes <number>', 'how many simulated nodes there are', count, 1)
    .option('--node-name <name>', "the node's name; of many, NAME-0, NAME-1 and so on", hostname().toLowerCase())
    .option('--image-catalogue <file>', 'YAML file that says what the process runtime runs for images')
  addServingCommand(command, release, { start: (options) => runEverything({ ...options, ...localNodes(command) }), welcome: (running, dataDir) => welcome(release, running, dataDir) })
}

function localNodes(command: Command): LocalNodes {
  const { nodeName, nodes, runtime: wanted, imageCatalogue } = command.opts<ParsedFlags>()
  const runtime = wanted === 'auto' ? 'process' : wanted
  if (runtime === 'process' && nodes > 1) throw new Error('--nodes: this machine is one node; only simulated ones can be many')
  return { nodeName, nodes, runtime, ...(imageCatalogue ? { imageCatalogue } : {}) }
}

const welcome = (release: string, { kubeconfig }: RunningApi, dataDir: string) =>
  console.log(`
Coxswain ${release} is up. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl create deployment web --image=nginx --replicas=3
  kubectl wait --for=condition=Available deployment/web
  kubectl get pods -o wide

Pods are processes of this machine; an image without a command answers HTTP on the ports it declares.
Ctrl-C stops it; pods go on and are found again at the next start. Everything is kept in ${dataDir}.`)
