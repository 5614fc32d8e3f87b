import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type ChosenRuntime,
  type DnsFlags,
  type LocalNodes,
  type RunningEverything,
  type ServeOptions,
  chooseRuntime,
  defaultDns,
  joinServers,
  nodeDirectoryOf,
  runEverything,
} from '../../cluster/index.ts'
import { type ParsedJoinFlags, addJoinFlags } from '../flags/join-flags.ts'
import { addLocalNodeFlags, readLocalNodeFlags } from '../flags/node-flags.ts'
import { addMonitorChoices, readMonitorChoices } from '../flags/monitor-flags.ts'
import { bool, domainName, port, something } from '../flags/flag-values.ts'
import { progressOn } from './progress.ts'
import { addServingCommand } from './serving-command.ts'

/** The flags that only `up` has, as parsed by commander. */
interface ParsedFlags {
  runtime: LocalNodes['runtime']
  dashboard: boolean
  dashboardPort: number
  certificateKey?: string
  clusterDns: boolean
  clusterDomain: string
  resolvConf: string
}

/** `coxswain up`: runs everything in one process. */
export function addUpCommand(program: Command, release: string): void {
  const command = program
    .command('up')
    .description('run everything in one process: API server, controllers, scheduler, nodes and monitor')
  addUpFlags(command)
  addLocalNodeFlags(command)
  addMonitorChoices(command)
  let chosen: ChosenRuntime
  const nodes = () => ({ ...localNodes(command), ...chosen.nodes })
  addServingCommand(command, release, {
    async start(options) {
      const local = localNodes(command)
      chosen = await chooseRuntime({ ...local, directory: nodeDirectoryOf(options.dataDir) }, options)
      return runEverything({
        ...(await joined(command, options)),
        ...local,
        ...chosen.nodes,
        ...dashboardChoice(command),
        dns: dnsFlags(command),
        monitor: readMonitorChoices(command, 'set'),
        progress: progressOn(process.stderr),
      })
    },
    welcome: (running, dataDir) =>
      console.log(welcomeText({ release, running, dataDir, nodes: nodes(), says: chosen.says })),
    farewell: (running) => farewell(running, nodes()),
  })
}

function addUpFlags(command: Command): void {
  command
    .addOption(
      new Option('--runtime <name>', 'container runtime; auto prefers containerd or CRI-O to processes')
        .choices(['auto', 'cri', 'process', 'simulated'])
        .default('auto'),
    )
    .addOption(
      new Option('--dashboard [bool]', 'serve the dashboard on the loopback interface')
        .argParser(bool)
        .preset('true')
        .default(true),
    )
    .addOption(
      new Option(
        '--cluster-dns [bool]',
        'run a DNS server for Services at the tenth cluster IP, and configure pods to use it',
      )
        .argParser(bool)
        .preset('true')
        .default(defaultDns.isServed),
    )
    .option('--cluster-domain <name>', 'DNS domain of Services and pods', domainName, defaultDns.domain)
    .option(
      '--resolv-conf <file>',
      'resolvers for all other names, and for pods with dnsPolicy Default',
      something,
      defaultDns.resolvConf,
    )
    .option('--dashboard-port <port>', 'port of the dashboard; a free one if it is in use or 0', port, 9465)
  addJoinFlags(
    command,
    'become another API server of the cluster of --server; `coxswain token create --print-join-command up` prints the command',
  ).option(
    '--certificate-key <key>',
    'key that decrypts the configuration of the cluster, as the join command has it',
    bundleKey,
  )
}

const bundleKey = (text: string): string => {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new InvalidArgumentError('must be 64 hexadecimal digits')
  return text
}

/** Joins the cluster of other servers if --join is given; their configuration replaces options of this server. */
function joined(command: Command, options: ServeOptions): Promise<ServeOptions> | ServeOptions {
  const {
    join,
    server: servers,
    token,
    caCertHash: caCertHashes = [],
    certificateKey,
  } = command.opts<ParsedJoinFlags & ParsedFlags>()
  if (!join) {
    if (servers || token || caCertHashes.length > 0 || certificateKey)
      throw new Error('--server, --token, --ca-cert-hash and --certificate-key: only with --join')
    return options
  }
  if (command.getOptionValueSource('store') !== 'default')
    throw new Error('--join: uses the store of the cluster, so --store cannot be specified')
  return joinServers(options, { ...(servers?.[0] ? { server: servers[0] } : {}), token, caCertHashes, certificateKey })
}

const dashboardChoice = (command: Command) => {
  const { dashboard, dashboardPort } = command.opts<ParsedFlags>()
  return { dashboardPort: dashboard ? dashboardPort : undefined }
}

function dnsFlags(command: Command): DnsFlags {
  const { clusterDns: isServed, clusterDomain: domain, resolvConf } = command.opts<ParsedFlags>()
  return { isServed, domain, resolvConf }
}

function localNodes(command: Command): LocalNodes {
  const { runtime } = command.opts<ParsedFlags>()
  return readLocalNodeFlags(command, runtime)
}

interface Welcome {
  release: string
  running: RunningEverything
  dataDir: string
  nodes: LocalNodes
  says: string
}

const welcomeText = ({ release, running: { kubeconfig, dashboard }, dataDir, nodes, says }: Welcome): string => `
Coxswain ${release} is up. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl create deployment web --image=nginx --replicas=3
  kubectl wait --for=condition=Available deployment/web
  kubectl get pods -o wide
${dashboard ? `\nDashboard (this link works once): ${dashboard.link()}\n` : ''}
${says}
Ctrl-C stops it; ${afterwards(nodes.runtime, nodes.shutdown !== undefined)}. Everything is kept in ${dataDir}.`

/**
 * The message at the end with the number of pods that keep running. Pods of simulated nodes, and of nodes with a grace
 * period, have ended.
 */
function farewell({ runningPods }: RunningEverything, { runtime, shutdown }: LocalNodes): string {
  if (runtime === 'simulated' || shutdown) return 'Stopped.'
  const count = runningPods()
  if (count === 0) return 'Stopped. No pods are running.'
  return `Stopped. ${count} ${count === 1 ? 'pod goes' : 'pods go'} on, and the next start finds ${count === 1 ? 'it' : 'them'}; coxswain reset ends ${count === 1 ? 'it' : 'them'}.`
}

const afterwards = (runtime: LocalNodes['runtime'], endsPods: boolean) =>
  endsPods
    ? 'pods are stopped first'
    : runtime !== 'simulated'
      ? 'pods keep running and are adopted at the next start'
      : 'pods are restarted at the next start'
