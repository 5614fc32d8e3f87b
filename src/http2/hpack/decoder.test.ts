import { describe, expect, it } from 'vitest'
import { ErrorCode, Http2Error } from '../errors.ts'
import { HeaderDecoder } from './decoder.ts'

const decoder = () => new HeaderDecoder(1 << 16)
const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const pairs = (decoder: HeaderDecoder, hex: string) => decoder.decode(bytes(hex))?.map(({ name, value }) => `${name}: ${value}`)

const requests = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
  [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
]
const [date, later] = ['date: Mon, 21 Oct 2013 20:13:21 GMT', 'date: Mon, 21 Oct 2013 20:13:22 GMT']
const location = 'location: https://www.example.com'
const cookie = 'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
const answers = [
  [':status: 302', 'cache-control: private', date, location],
  [':status: 307', 'cache-control: private', date, location],
  [':status: 200', 'cache-control: private', later, location, 'content-encoding: gzip', cookie],
]

describe('HeaderDecoder reads the examples of RFC 7541, appendix C', () => {
  it.each([
    ['C.2.1', '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', 'custom-key: custom-header'],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', ':path: /sample/path'],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', 'password: secret'],
    ['C.2.4', '82', ':method: GET'],
  ])('%s', (_, hex, field) => expect(pairs(decoder(), hex)).toEqual([field]))

  it.each([
    ['C.3', requests, [
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ]],
    ['C.4', requests, [
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ]],
    // These two have a table of 256 bytes, which the first block says here.
    ['C.5', answers, [
      '3fe101 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 54' +
        '6e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '4803 3330 37c1 c0bf',
      '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b' +
        '425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
    ]],
    ['C.6', answers, [
      '3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      '4883 640e ffc1 c0bf',
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960' +
        'd5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    ]],
  ])('%s', (_, wanted, blocks) => {
    const one = decoder()
    expect(blocks.map((hex) => pairs(one, hex))).toEqual(wanted)
  })
})

describe('HeaderDecoder refuses', () => {
  it.each([
    ['an index of zero', '80'],
    ['an index of nothing', 'be'],
    ['an index far beyond everything', 'ffffffff7f'],
    ['a name by an index of nothing', '7e0161'],
    ['a number of too many bytes', 'ff8080808001'],
    ['a number without an end', 'ff80'],
    ['a text that ends too early', '400a6375'],
    ['a name without a value', '400161'],
    ['a text in a code with bad filling', '400161 8100'],
    ['a text that contains the end of texts', '40016184ffffffff'],
    ['a table that is larger than we said', '3fe21f'],
    ['a change of the table after a field', '8220'],
  ])('%s', (_, hex) => {
    expect(() => decoder().decode(bytes(hex))).toThrow(expect.objectContaining({ code: ErrorCode.compressionError }) as Http2Error)
  })
})

describe('HeaderDecoder', () => {
  it('takes the largest table that it allows, and several changes in one block', () => {
    expect(pairs(decoder(), '20 3fe11f 82')).toEqual([':method: GET'])
  })

  it('forgets what no longer fits a table made smaller', () => {
    const one = decoder()
    expect(pairs(one, '40016101 62 40016301 64')).toEqual(['a: b', 'c: d'])
    // 34 bytes each: one of them stays.
    expect(pairs(one, '3f03 be')).toEqual(['c: d'])
    expect(() => one.decode(bytes('bf'))).toThrow(Http2Error)
  })

  it('forgets everything for a field larger than the table', () => {
    const one = decoder()
    one.decode(bytes('3f03 400161 0162'))
    expect(pairs(one, '400161 03626262')).toEqual(['a: bbb'])
    expect(() => one.decode(bytes('be'))).toThrow(Http2Error)
  })

  it('names a new field after one that it drives out', () => {
    const one = decoder()
    one.decode(bytes('3f03 400161 0162'))
    expect(pairs(one, '7e 0163 be')).toEqual(['a: c', 'a: c'])
  })

  it('hands over no list that is too large, and knows later what was in it', () => {
    const one = new HeaderDecoder(80)
    expect(pairs(one, '400161 0162 400163 0164 400165 0166')).toBeUndefined()
    expect(pairs(one, 'be c0')).toEqual(['e: f', 'a: b'])
  })
})
