import { type Command, InvalidArgumentError } from 'commander'
import {
  type PublishedKindName,
  companionKindNames,
  publishedKindNames,
} from '../../api/kinds/workloads/published-kinds.ts'
import { type RunPublisherOptions, runPublisher } from '../../cluster/index.ts'
import { count, list } from '../flags/flag-values.ts'
import { addPartFlags, readPartFlags, runPartCommand } from '../flags/part-flags.ts'

/** Parses plural names of kinds that can be published; `*` means all, and `none` means none. */
function kindList(text: string): PublishedKindName[] {
  const names = list(text).flatMap((name) => (name === '*' ? publishedKindNames : name === 'none' ? [] : [name]))
  const wrong = names.find((name) => !isKind(name))
  if (wrong !== undefined)
    throw new InvalidArgumentError(`${JSON.stringify(wrong)} is none of ${publishedKindNames.join(', ')}`)
  return [...new Set(names.filter(isKind))]
}

const isKind = (name: string): name is PublishedKindName => (publishedKindNames as readonly string[]).includes(name)

/** Adds the flags of `coxswain publish`. */
const addPublishFlags = (command: Command): Command =>
  addPartFlags(command, 'coxswain-publisher')
    .option('--kinds <names>', 'kinds to publish conditions for', kindList, [...publishedKindNames])
    .option('--companions <names>', 'kinds that get a WorkloadStatus object; none for no kind', kindList, [
      ...companionKindNames,
    ])
    .option('--writes-per-second <number>', 'average limit of writes per second', count, 50)

/** Reads the flags and the file of --config; the command line wins. */
async function readPublishFlags(command: Command, release: string): Promise<RunPublisherOptions> {
  const options = await readPartFlags(command, release)
  const { kinds, companions, writesPerSecond } =
    command.opts<Pick<RunPublisherOptions, 'kinds' | 'companions' | 'writesPerSecond'>>()
  return { ...options, kinds, companions, writesPerSecond }
}

/** `coxswain publish`: publishes conditions for workloads of another controller manager. */
export function addPublishCommand(program: Command, release: string): void {
  const command = addPublishFlags(
    program
      .command('publish')
      .description('publish conditions for the workloads of a cluster with a controller manager of its own'),
  )
  command.action(async () => runPartCommand(await readPublishFlags(command, release), runPublisher))
}
