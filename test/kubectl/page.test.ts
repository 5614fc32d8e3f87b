import { describe, expect, it } from 'vitest'
import { readPage, unmarkedCommands } from './page.ts'

const page = [
  '# Boats', '',
  '<!-- file: boat.yaml -->', '```yaml', 'kind: Boat', '```', '',
  '<!-- setup: kubectl create ns harbour', 'kubectl create ns sea -->', '```sh', 'kubectl apply -f boat.yaml', '```', '',
  '```text', 'boat/one created', '```', '',
  '<!-- server -->', '```sh', 'coxswain up', '```', '',
  '<!-- not run: needs two machines -->', '```sh', 'coxswain node --join', '```', '',
  '```', 'kubectl get boats', '```', '',
  '```', 'one  two', '```', '',
].join('\n')

describe('readPage()', () => {
  it('reads commands with what they presume and what they write', () => {
    const { blocks, files } = readPage(page)
    expect(files).toEqual(new Map([['boat.yaml', 'kind: Boat\n']]))
    expect(blocks).toEqual([
      { line: 10, commands: 'kubectl apply -f boat.yaml\n', output: 'boat/one created\n', setup: 'kubectl create ns harbour\nkubectl create ns sea', isServer: false, notRun: undefined },
      { line: 19, commands: 'coxswain up\n', output: undefined, setup: '', isServer: true, notRun: undefined },
      { line: 24, commands: 'coxswain node --join\n', output: undefined, setup: '', isServer: false, notRun: 'needs two machines' },
    ])
  })
})

describe('unmarkedCommands()', () => {
  it('finds commands that no test would run', () => {
    expect(unmarkedCommands(page)).toEqual(['kubectl get boats'])
  })
})
