import { Argument, type Command, Option } from 'commander'
import { manifests } from '../cluster/index.ts'
import { count, something } from './flags/flag-values.ts'

const components = ['publisher', 'monitor', 'controllers', 'definitions', 'namespace']

interface Flags {
  namespace: string
  image: string
  replicas: number
  serviceMonitors: boolean
}

/** `coxswain manifests`: prints the objects that run components in a cluster. */
export function addManifestsCommand(program: Command, release: string): void {
  const command = program
    .command('manifests')
    .description('print the manifests of parts of this package, for kubectl apply -f -')
    .addArgument(
      new Argument('[parts...]', 'what to print')
        .choices(components)
        .default(['namespace', 'definitions', 'publisher'], 'namespace definitions publisher'),
    )
    .option('--namespace <name>', 'where they run', something, 'coxswain-system')
    .option('--image <image>', 'what they run', something, `coxswain:${release}`)
    .option('--replicas <number>', 'how many processes stand by for each other', count, 2)
    .addOption(new Option('--service-monitors', "objects for Prometheus' operator, too").default(false))
  command.action(async (parts: string[]) => {
    const { manifestText } = await manifests()
    const { namespace, image, replicas, serviceMonitors } = command.opts<Flags>()
    process.stdout.write(manifestText(parts, { namespace, image, replicas: () => replicas }, serviceMonitors))
  })
}
