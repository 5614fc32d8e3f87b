import { describe, expect, it } from 'vitest'
import { entryFor, fullImageName, parseCatalogue } from './catalogue.ts'

describe('entryFor() compares', () => {
  it.each([
    ['a name with the last part', 'busybox', 'registry.k8s.io/busybox:1.27.2', true],
    ['a name with the whole last part', 'box', 'busybox', false],
    ['a tag with the tag', 'nginx:1.27', 'nginx:1.27', true],
    ['a tag with another tag', 'nginx:1.27', 'nginx:1.28', false],
    ['a name with a slash with the whole name', 'my.org/*', 'my.org/team/app:2', true],
    ['a name with a slash with another registry', 'my.org/*', 'docker.io/library/app', false],
    ['anything with a star', 'app-*', 'my.org/app-7', true],
    ['nothing with a digest', 'app', 'app@sha256:0123', true],
    ['a registry\'s port with no tag', 'app', 'localhost:5000/app', true],
    ['a dot with a dot', 'a.b', 'axb', false],
  ])('%s', (_what, pattern, image, fits) => {
    expect(entryFor(image, [{ image: pattern }]) !== undefined).toBe(fits)
  })

  it('the first entry first', () => {
    expect(entryFor('nginx', [{ image: 'ngi*', args: ['a'] }, { image: 'nginx', args: ['b'] }])?.args).toEqual(['a'])
  })
})

describe('parseCatalogue()', () => {
  it('reads entries', async () => {
    const text = 'images:\n- image: nginx*\n  command: [nginx, -g]\n  env: { A: b }\n- { image: gone, missing: true }'
    expect(await parseCatalogue(text)).toEqual([{ image: 'nginx*', command: ['nginx', '-g'], env: { A: 'b' } }, { image: 'gone', missing: true }])
  })

  it.each([
    ['what is no catalogue', '[]', 'an image catalogue is a map with a list "images"'],
    ['an entry without image', 'images: [{command: [a]}]', 'images[0]: image is missing'],
    ['a field that there is not', 'images: [{image: a, cmd: [a]}]', 'images[0]: unknown field "cmd"'],
    ['a command that is one word', 'images: [{image: a, command: run}]', 'images[0]: command must be a list of strings'],
    ['numbers in the environment', 'images: [{image: a, env: {A: 1}}]', 'images[0]: env must be a map of strings'],
  ])('refuses %s', async (_what, text, message) => {
    await expect(parseCatalogue(text)).rejects.toThrow(message)
  })
})

it.each([
  ['nginx', 'docker.io/library/nginx:latest'],
  ['team/app:2', 'docker.io/team/app:2'],
  ['localhost:5000/app', 'localhost:5000/app:latest'],
  ['registry.k8s.io/pause@sha256:01', 'registry.k8s.io/pause@sha256:01'],
])('fullImageName() of %s is %s', (image, whole) => {
  expect(fullImageName(image)).toBe(whole)
})
