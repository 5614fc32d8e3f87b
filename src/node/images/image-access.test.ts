import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ImageAccess, type PullCredential } from './image-access.ts'

const image = 'registry.test:5000/crew/secret:1'
const credential = (username: string, isOfNode = false): PullCredential => ({ login: { server: 'registry.test:5000', username, password: 'anchor' }, isOfNode })
const [anna, bert] = [credential('anna'), credential('bert')]

let file: string
beforeEach(() => {
  const directory = mkdtempSync(path.join(tmpdir(), 'coxswain-access-'))
  file = path.join(directory, 'image-pulls.json')
  onTestFinished(() => rmSync(directory, { recursive: true }))
})

/** The pods that may use the image: without credentials, with those of Anna, with those of Bert. As a later agent sees it. */
const allowed = (of = image) => [[], [anna], [bert]].map((credentials) => new ImageAccess(file).allows(of, 'id', credentials))

describe('ImageAccess', () => {
  it('allows everybody what the node did not pull, or pulled without credentials', () => {
    expect(allowed()).toEqual([true, true, true])
    new ImageAccess(file).pulled(image, 'id', undefined)
    expect(allowed()).toEqual([true, true, true])
  })

  it('allows an image only with a credential with which it was pulled', () => {
    const access = new ImageAccess(file)
    access.begin(image)
    access.pulled(image, 'id', anna)
    expect(allowed()).toEqual([false, true, false])
    access.pulled(image, 'id', bert)
    expect(allowed()).toEqual([false, true, true])
    expect(allowed('registry.test:5000/crew/secret:2')).toEqual([false, true, true])
    expect(allowed('other.test/secret:1')).toEqual([false, false, false])
    expect(readFileSync(file, 'utf8')).not.toMatch(/anchor|anna/)
  })

  it.each<[string, PullCredential | undefined]>([
    ['without credentials', undefined], ['with those of the node', credential('node', true)],
  ])('allows everybody what was pulled again %s', (_, again) => {
    const access = new ImageAccess(file)
    access.pulled(image, 'id', anna)
    access.pulled(image, 'id', again)
    access.pulled(image, 'id', bert)
    expect(allowed()).toEqual([true, true, true])
  })

  it('allows nobody an image whose pull was interrupted, until it is pulled again', () => {
    new ImageAccess(file).begin(image)
    expect(allowed()).toEqual([false, false, false])
    new ImageAccess(file).pulled(image, 'id', undefined)
    expect(allowed()).toEqual([true, true, true])
  })

  it('allows everything where images have no contents', () => {
    const access = new ImageAccess(undefined)
    access.begin(image)
    access.pulled(image, 'id', anna)
    expect(access.allows(image, 'id', [])).toBe(true)
  })
})
