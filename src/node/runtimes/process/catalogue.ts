import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { parseYaml } from '../../../api/json/yaml.ts'
import { namePattern } from '../../name-pattern.ts'
import { isFields } from '../../../api/object.ts'

/** The replacement of an image on a machine without images. The first matching entry applies. */
export interface CatalogueEntry {
  /**
   * A pattern in which `*` matches any text. A pattern without a slash is compared with the last part of the name, one
   * without a colon with the name without its tag.
   */
  image: string
  /**
   * The replacement of the image's entry point and arguments. A container's `command` replaces both, its `args` the
   * arguments.
   */
  command?: readonly string[]
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  workingDir?: string
  /** True if pulls of the image fail. */
  missing?: boolean
}

const shellByDefault = ['busybox', 'alpine', 'debian', 'ubuntu', 'bash', 'fedora', 'centos', 'rockylinux'].map(
  (image) => ({ image, args: ['sh'] }),
)

/**
 * The version of Debian 12. It converts numbers to integers, so that `perl -Mbignum=bpi -wle 'print bpi(2000)'` fails,
 * which works in the image.
 */
const oddPerl = '/usr/share/perl/5.36/Math/BigFloat.pm'
const perlEnv = () => (existsSync(oddPerl) ? { env: { PERL5OPT: '-MMath::BigFloat=downgrade' } } : {})

/** Entries for common images whose programs most machines have. */
export const builtInEntries = (): readonly CatalogueEntry[] => [
  ...shellByDefault,
  { image: 'hello-world', command: ['echo', 'Hello from Coxswain!'] },
  { image: 'perl', args: ['perl', '-de0'], ...perlEnv() },
  { image: 'python', args: ['python3'] },
  { image: 'node', args: ['node'] },
]

const keys = new Set(['image', 'command', 'args', 'env', 'workingDir', 'missing'])
const isText = (value: unknown): value is string => typeof value === 'string'
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText)
const isTextMap = (value: unknown) => isFields(value) && Object.values(value).every(isText)
/** Parses a catalogue file (YAML or JSON). Rejects with the entry and its error. */
export async function parseCatalogue(text: string): Promise<CatalogueEntry[]> {
  const { value } = parseYaml(text)
  if (!isFields(value) || !Array.isArray(value['images']))
    throw new Error('an image catalogue is a map with a list "images"')
  return (value['images'] as unknown[]).map((entry, index) => {
    const wrong = problemOf(entry)
    if (wrong) throw new Error(`images[${index}]: ${wrong}`)
    return entry as CatalogueEntry
  })
}

function problemOf(entry: unknown): string | undefined {
  if (!isFields(entry) || !isText(entry['image']) || entry['image'] === '') return 'image is missing'
  const unknown = Object.keys(entry).find((key) => !keys.has(key))
  if (unknown) return `unknown field "${unknown}"`
  for (const field of ['command', 'args'])
    if (entry[field] !== undefined && !isTextList(entry[field])) return `${field} must be a list of strings`
  if (entry['env'] !== undefined && !isTextMap(entry['env'])) return 'env must be a map of strings'
  if (entry['workingDir'] !== undefined && !isText(entry['workingDir'])) return 'workingDir must be a string'
  return entry['missing'] === undefined || typeof entry['missing'] === 'boolean'
    ? undefined
    : 'missing must be true or false'
}

/** The first entry that matches an image. */
export function entryFor(image: string, entries: readonly CatalogueEntry[]): CatalogueEntry | undefined {
  return entries.find((entry) => isMatch(image, entry.image))
}

function isMatch(image: string, pattern: string): boolean {
  const withTag = image.replace(/@.*$/, '')
  const name = pattern.includes(':') ? withTag : withTag.replace(/:[^/:]*$/, '')
  const compared = pattern.includes('/') ? name : name.slice(name.lastIndexOf('/') + 1)
  return namePattern(pattern).test(compared)
}

/** The full name of an image: `nginx` is `docker.io/library/nginx:latest`. */
export function fullImageName(image: string): string {
  const first = image.split('/')[0]!
  const hasRegistry = image.includes('/') && (/[.:]/.test(first) || first === 'localhost')
  const named = hasRegistry ? image : `docker.io/${image.includes('/') ? '' : 'library/'}${image}`
  return /(:[^/]*|@.*)$/.test(named.slice(named.indexOf('/'))) ? named : `${named}:latest`
}

/** An id for an image, derived from its name. */
export const imageId = (image: string): string =>
  `sha256:${createHash('sha256').update(fullImageName(image)).digest('hex')}`
