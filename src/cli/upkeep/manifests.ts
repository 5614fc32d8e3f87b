import { Argument, type Command, Option } from 'commander'
import { manifests } from '../../cluster/index.ts'
import { count, portList, something } from '../flags/flag-values.ts'

const components = ['publisher', 'monitor', 'controllers', 'definitions', 'namespace']

interface Flags {
  namespace: string
  image: string
  replicas: number
  apiServerPorts?: number[]
  serviceMonitors: boolean
}

/** `coxswain manifests`: prints the objects that run components in a cluster. */
export function addManifestsCommand(program: Command, release: string): void {
  const command = program
    .command('manifests')
    .description('print manifests that install parts of Coxswain, for kubectl apply -f -')
    .addArgument(
      new Argument('[parts...]', 'what to print')
        .choices(components)
        .default(['namespace', 'definitions', 'publisher'], 'namespace definitions publisher'),
    )
    .option('--namespace <name>', 'namespace of the objects', something, 'coxswain-system')
    .option('--image <image>', 'container image', something, `coxswain:${release}`)
    .option('--replicas <number>', 'number of replicas', count, 2)
    .option(
      '--api-server-ports <ports>',
      'ports to which network policies allow connections (default: 443,6443)',
      portList,
    )
    .addOption(new Option('--service-monitors', 'include ServiceMonitors for the Prometheus operator').default(false))
  command.action(async (parts: string[]) => {
    const { manifestText } = await manifests()
    const { namespace, image, replicas, apiServerPorts, serviceMonitors } = command.opts<Flags>()
    const settings = { namespace, image, replicas: () => replicas, ...(apiServerPorts ? { apiServerPorts } : {}) }
    process.stdout.write(manifestText(parts, settings, serviceMonitors))
  })
}
