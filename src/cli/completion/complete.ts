import type { Command, Option } from 'commander'
import { acceptMetadata, Client, HttpTransport, type List, loadAccess, namespaces, pathOf } from '../../client/index.ts'
import { workloadKinds } from '../../insight/workload/kinds.ts'
import { findKind } from '../workload/names.ts'

/** A word that a shell may offer, with what it means. */
export interface Suggestion {
  word: string
  meaning?: string | undefined
}

/** Suggestions, and whether the shell may offer files besides. */
export interface Suggestions {
  words: Suggestion[]
  allowsFiles: boolean
}

/** Asks a cluster for names. `flags` are those of the command line so far, without their dashes. */
export interface NameSource {
  workloads(kind: string, flags: ReadonlyMap<string, string>): Promise<string[]>
  namespaces(flags: ReadonlyMap<string, string>): Promise<string[]>
}

/** Where a command line stands before the word that is being typed. */
interface Position {
  command: Command
  /** Words that are neither commands nor flags. */
  operands: string[]
  flags: Map<string, string>
  /** A flag whose value is being typed. */
  pending: Option | undefined
}

const outcomes = [
  'condition=Available',
  'condition=Progressing',
  'condition=Complete',
  'condition=Failed',
  'condition=Running',
  'create',
  'delete',
  'jsonpath=',
]

/** Suggests how a command line may go on; the last word is the one that is being typed. */
export async function suggestionsFor(
  program: Command,
  words: readonly string[],
  names: NameSource,
): Promise<Suggestions> {
  const typed = words.at(-1) ?? ''
  const position = positionOf(program, words.slice(0, -1))
  const found = await candidates(position, typed, names)
  return { ...found, words: found.words.filter(({ word }) => word.startsWith(typed)) }
}

async function candidates(
  { command, operands, flags, pending }: Position,
  typed: string,
  names: NameSource,
): Promise<Suggestions> {
  const only = (words: Suggestion[]): Suggestions => ({ words, allowsFiles: false })
  if (pending) return valuesOf(pending, flags, names)
  if (typed.startsWith('-')) return only(flagsOf(command))
  if (command.commands.length > 0) return only(subcommandsOf(command))
  if (command.name() === 'completion') return only(['bash', 'zsh', 'fish'].map((word) => ({ word })))
  if (!takesWorkloads(command)) return { words: [], allowsFiles: true }
  return only(await workloadWords(operands, typed, flags, names))
}

function positionOf(program: Command, words: readonly string[]): Position {
  const position: Position = { command: program, operands: [], flags: new Map(), pending: undefined }
  for (const word of words) {
    if (position.pending) {
      position.flags.set(position.pending.attributeName(), word)
      position.pending = undefined
    } else if (word.startsWith('-') && word !== '-') takeFlag(position, word)
    else {
      const sub =
        position.operands.length === 0 ? position.command.commands.find((one) => one.name() === word) : undefined
      if (sub) position.command = sub
      else position.operands.push(word)
    }
  }
  return position
}

function takeFlag(position: Position, word: string): void {
  const [name = '', ...rest] = word.split('=')
  const option = position.command.options.find(({ long, short }) => long === name || short === name)
  if (!option) return
  if (rest.length > 0) position.flags.set(option.attributeName(), rest.join('='))
  else if (option.required) position.pending = option
}

const subcommandsOf = (command: Command): Suggestion[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ word: one.name(), meaning: one.description() }))

const flagsOf = (command: Command): Suggestion[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ word: long, meaning: description }] : []))

async function valuesOf(option: Option, flags: ReadonlyMap<string, string>, names: NameSource): Promise<Suggestions> {
  const words = (all: readonly string[]): Suggestions => ({ words: all.map((word) => ({ word })), allowsFiles: false })
  if (option.argChoices) return words(option.argChoices)
  const name = option.attributeName()
  if (name === 'namespace') return words(await names.namespaces(flags))
  if (name === 'for' || name === 'or') return words(outcomes)
  return { words: [], allowsFiles: /file|dir|config|catalogue/i.test(name) }
}

/** Commands that take names and talk to a cluster as its user: their operands are KIND NAME or KIND/NAME. */
const takesWorkloads = ({ registeredArguments, options }: Command): boolean =>
  registeredArguments.some((argument) => argument.variadic) && options.some(({ long }) => long === '--context')

async function workloadWords(
  operands: readonly string[],
  typed: string,
  flags: ReadonlyMap<string, string>,
  names: NameSource,
): Promise<Suggestion[]> {
  const slash = typed.indexOf('/')
  if (slash >= 0) {
    const kind = typed.slice(0, slash)
    return (await names.workloads(kind, flags)).map((name) => ({ word: `${kind}/${name}` }))
  }
  const [kind] = operands
  if (kind !== undefined && !kind.includes('/')) return (await names.workloads(kind, flags)).map((word) => ({ word }))
  return workloadKinds.map(({ singular, shortNames }) => ({
    word: singular,
    meaning: shortNames.join(', ') || undefined,
  }))
}

/** A shell waits for its suggestions: who is slower than this has none. */
const patienceMs = 2000

/** Names from the cluster that the command line means. Whatever goes wrong, there are none. */
export const clusterNames: NameSource = {
  workloads(text, flags) {
    const kind = findKind(text)
    return kind ? listNames(flags, (namespace) => pathOf(kind.type, namespace)) : Promise.resolve([])
  },
  namespaces: (flags) => listNames(flags, () => pathOf(namespaces)),
}

async function listNames(flags: ReadonlyMap<string, string>, path: (namespace: string) => string): Promise<string[]> {
  let client: Client | undefined
  try {
    const access = await loadAccess({
      file: flags.get('kubeconfig'),
      context: flags.get('context'),
      namespace: flags.get('namespace'),
    })
    client = new Client(new HttpTransport(access, { requestTimeoutMs: patienceMs, connectTimeoutMs: patienceMs }), {
      retries: { unanswered: 0, throttled: 0 },
    })
    const { items } = await client.transport.send<List>({
      method: 'GET',
      path: path(access.namespace),
      accept: acceptMetadata('PartialObjectMetadataList'),
      query: { limit: '500' },
    })
    return items.map(({ metadata }) => metadata.name ?? '')
  } catch {
    return []
  } finally {
    await client?.close()
  }
}

/**
 * Suggestions in the form in which kubectl asks its plug-ins for them: a line each, and last what the shell is to do.
 */
export function protocolText({ words, allowsFiles }: Suggestions): string {
  const lines = words.map(({ word, meaning }) => (meaning ? `${word}\t${meaning}` : word))
  return `${[...lines, allowsFiles ? ':0' : ':4'].join('\n')}\n`
}
