import { jsonText } from '../../../api/json/index.ts'
import { type Turns, everySteps, stepsOfBytes } from '../../../base/turns.ts'
import type { WriteYaml } from './yaml-text.ts'

/** A long list whose items are generated on demand. */
export interface LongList {
  /** The list without items: `member`, its last member, is empty. */
  frame: object
  member: 'items' | 'rows'
  items: Iterable<object>
}

/** Writes a list piece by piece. The pieces together equal the whole text. */
interface ListWriter {
  before(list: LongList): string
  item(value: object, isFirst: boolean): string | Promise<string>
  after(list: LongList): string
}

/** The text before and after the items. */
function aroundItems({ frame }: LongList, indent: number): [string, string] {
  const text = jsonText(frame, indent)
  const at = text.lastIndexOf('[]')
  return [text.slice(0, at + 1), text.slice(at + 1)]
}

const compactJson: ListWriter = {
  before: (list) => aroundItems(list, 0)[0],
  item: (value, isFirst) => (isFirst ? jsonText(value) : `,${jsonText(value)}`),
  after: (list) => `${aroundItems(list, 0)[1]}\n`,
}

// Line breaks in JSON occur only between members, never inside of strings.
const prettyJson: ListWriter = {
  before: (list) => aroundItems(list, 2)[0],
  item: (value, isFirst) => `${isFirst ? '' : ','}\n    ${jsonText(value, 2).replaceAll('\n', '\n    ')}`,
  after: (list) => `\n  ${aroundItems(list, 2)[1]}\n`,
}

/** Members are sorted by name, so the items need not come last. */
async function yaml({ frame, member }: LongList, write: WriteYaml): Promise<ListWriter> {
  const [before = '', after = ''] = (await write(frame)).split(new RegExp(`^${member}: \\[\\]\\n`, 'm'))
  return { before: () => `${before}${member}:\n`, item: (value) => write([value]), after: () => after }
}

/** The writer of a list in a format. */
export const listWriter = (
  list: LongList,
  format: 'json' | 'yaml',
  pretty: boolean,
  write: WriteYaml,
): Promise<ListWriter> | ListWriter => (format === 'yaml' ? yaml(list, write) : pretty ? prettyJson : compactJson)

function* texts(list: LongList, writer: ListWriter): Iterable<string | Promise<string>> {
  let isFirst = true
  yield writer.before(list)
  for (const item of list.items) {
    yield writer.item(item, isFirst)
    isFirst = false
  }
  yield writer.after(list)
}

/** The size of a piece. Smaller pieces cost more system calls, larger ones delay other requests. */
const pieceLength = 1 << 19

/** An item may take up to half a millisecond as YAML. */
const itemsAtLeast = 4

/** The bytes of a list, generated in slices, each one after the previous has been sent. */
export async function* listBytes(list: LongList, writer: ListWriter, turns: Turns): AsyncIterableIterator<Buffer> {
  const slices = everySteps(itemsAtLeast, turns)
  let text = ''
  for (const made of texts(list, writer)) {
    const next = typeof made === 'string' ? made : await made
    text += next
    if (text.length >= pieceLength) {
      yield Buffer.from(text)
      text = ''
    }
    slices.add(stepsOfBytes(next.length))
    if (slices.isSpent) await slices.next()
  }
  yield Buffer.from(text)
}
