/** A block of commands on a page of the documentation, as a reader types them. */
export interface CommandBlock {
  /** The line of the page on which the block begins. */
  line: number
  commands: string
  /** The commands write this, apart from what differs each time. Undefined where the page does not show it. */
  output: string | undefined
  /** Commands that the page does not show: they make what the block presumes. */
  setup: string
  /** The last command runs until it is stopped, and says `ready …` first. */
  isServer: boolean
  /** The reason why a test does not run the block. */
  notRun: string | undefined
}

export interface Page {
  blocks: CommandBlock[]
  /** Files that the page shows, by the name in the comment before the block. */
  files: Map<string, string>
}

const fence = /^(?:<!-- (?<note>[\s\S]*?) -->\n)?^```(?<language>[a-z]*)\n(?<text>[\s\S]*?)^```$(?:\n\n```text\n(?<output>[\s\S]*?)^```$)?/gm

/**
 * Reads the blocks of a page. A block in the language `sh` is run. A comment right before a block says more about it:
 *
 *     <!-- file: NAME -->       the block is the content of a file; commands of the page find it by this name
 *     <!-- setup: COMMANDS -->  run before the block
 *     <!-- server -->           the last command runs until it is stopped
 *     <!-- not run: REASON -->  shown only
 *
 * A block in the language `text` that follows at once is what the commands write.
 */
export function readPage(text: string): Page {
  const page: Page = { blocks: [], files: new Map() }
  for (const match of text.matchAll(fence)) {
    const { note = '', language, text: content = '', output } = match.groups!
    const [, word, rest = ''] = /^(file|setup|server|not run)(?:: ([\s\S]*))?$/.exec(note) ?? []
    if (word === 'file') page.files.set(rest, content)
    if (language !== 'sh') continue
    page.blocks.push({
      line: text.slice(0, match.index).split('\n').length + (note === '' ? 0 : note.split('\n').length),
      commands: content,
      output,
      setup: word === 'setup' ? rest : '',
      isServer: word === 'server',
      notRun: word === 'not run' ? rest : undefined,
    })
  }
  return page
}

const command = /^(?:\$ )?(?:kubectl|coxswain|helm|npm|npx|openssl|curl|dig|export|source|sudo|etcdctl|\.\/bin\/)\b/m

/** Blocks that look like commands and are in another language than `sh`, by their first lines: no test would run them. */
export function unmarkedCommands(text: string): string[] {
  const blocks = [...text.matchAll(fence)].filter(({ groups }) => groups!['language'] === '' && command.test(groups!['text']!))
  return blocks.map(({ groups }) => groups!['text']!.split('\n')[0]!)
}
