/** Answers to interrupts: what is taken, what is refused and with which code, and that it is all or nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildResume, isExpired, parseRunAgentInput, resumeEntry, UsageError, type Interrupt, type ResumeEntry } from '../index.ts'

const NOW = Date.parse('2026-01-01T00:00:10Z')
const ask = (id: string, more: Partial<Interrupt> = {}): Interrupt => ({ id, reason: 'approval', ...more })
const yes = (interruptId: string, payload?: unknown): ResumeEntry => ({ interruptId, status: 'resolved', ...(payload !== undefined && { payload }) })
const no = (interruptId: string): ResumeEntry => ({ interruptId, status: 'cancelled' })

function codeOf(build: () => unknown): string | undefined {
  try {
    build()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as UsageError).code
  }
}

describe('isExpired', () => {
  it.each<[string | undefined, boolean]>([
    [undefined, false],
    ['2026-01-01T00:00:11Z', false],
    ['2026-01-01T00:00:10Z', true],
    ['2026-01-01T01:00:10+01:00', true],
    ['1999-12-31', true],
    ['soon', false],
    ['', false],
  ])('%s', (expiresAt, expired) => {
    expect(isExpired(ask('i', expiresAt === undefined ? {} : { expiresAt }), NOW)).toBe(expired)
  })
})

describe('buildResume', () => {
  it('gives an entry for each interrupt, in their order, with nothing but what an entry has', () => {
    const answers = [{ ...no('b'), mood: 'x' }, { ...yes('a', { ok: true }), metadata: { by: 'Ann' } }]
    expect(buildResume([ask('a'), ask('b')], answers, NOW)).toEqual([
      { interruptId: 'a', status: 'resolved', payload: { ok: true }, metadata: { by: 'Ann' } },
      { interruptId: 'b', status: 'cancelled' },
    ])
    expect(buildResume([], [], NOW)).toEqual([])
    // Those of one id have one answer.
    expect(buildResume([ask('a'), ask('a')], [yes('a')], NOW)).toEqual([yes('a')])
  })

  it('leaves out what is null, for which a run input has no place; other falsy payloads stay', () => {
    const [entry] = buildResume([ask('a')], [{ ...yes('a'), payload: null, metadata: null } as never], NOW)
    expect(Object.keys(entry as object)).toEqual(['interruptId', 'status'])
    for (const payload of [false, 0, '']) expect(buildResume([ask('a')], [yes('a', payload)], NOW)).toEqual([{ ...yes('a'), payload }])
  })

  const expired = { expiresAt: '2026-01-01T00:00:10Z' }
  const open = [ask('a'), ask('b', expired)]
  it.each<[string, Interrupt[], unknown, string | undefined]>([
    ['one is missing', open, [yes('a')], 'unanswered-interrupts'],
    ['all are missing', open, [], 'unanswered-interrupts'],
    ['one is not open', open, [yes('a'), no('b'), yes('c')], 'unknown-interrupt'],
    ['none is open', [], [yes('a')], 'unknown-interrupt'],
    ['one comes twice', open, [yes('a'), no('b'), no('a')], 'duplicate-answer'],
    ['one is expired and resolved', open, [yes('a'), yes('b')], 'interrupt-expired'],
    ['one is expired and cancelled', open, [yes('a'), no('b')], undefined],
    ['another status', open, [{ interruptId: 'a', status: 'denied' }, no('b')], 'malformed-answer'],
    ['no status', open, [{ interruptId: 'a' }, no('b')], 'malformed-answer'],
    ['no id', open, [{ status: 'resolved' }, no('b')], 'unknown-interrupt'],
    ['no objects', open, ['a', 'b'], 'malformed-answer'],
    ['null', open, [null], 'malformed-answer'],
    ['no list', open, { a: 'resolved' }, 'malformed-answer'],
  ])('%s', (_, interrupts, answers, code) => {
    expect(codeOf(() => buildResume(interrupts, answers as ResumeEntry[], NOW))).toBe(code)
  })

  it('asks the check for resolved answers to interrupts that have a schema, and refuses what it finds wrong', () => {
    const asked: unknown[] = []
    const schema = { type: 'boolean' }
    const check = (given: object, payload: unknown, { id }: Interrupt): string | undefined => {
      asked.push([given, payload, id])
      return typeof payload === 'boolean' ? undefined : 'it is no boolean'
    }
    const interrupts = [ask('a', { responseSchema: schema }), ask('b'), ask('c', { responseSchema: schema })]
    expect(buildResume(interrupts, [yes('a', true), yes('b', 5), no('c')], NOW, check)).toHaveLength(3)
    expect(asked).toEqual([[schema, true, 'a']])
    expect(codeOf(() => buildResume(interrupts, [yes('a', 'yes'), yes('b'), no('c')], NOW, check))).toBe('malformed-answer')
    expect(codeOf(() => buildResume(interrupts, [yes('a'), yes('b'), no('c')], NOW, check))).toBe('malformed-answer')
    expect(codeOf(() => resumeEntry('a', yes('a', 1), interrupts, NOW, check))).toBe('malformed-answer')
    // Without a check a schema is not looked at.
    expect(codeOf(() => resumeEntry('a', yes('a', 1), interrupts, NOW))).toBeUndefined()
  })

  it('is all or nothing: an entry for every interrupt, which a server takes as they are, or a typed error', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd')
    const interrupts = fc.uniqueArray(fc.record({ id, reason: fc.string(), expiresAt: fc.constantFrom('1999', '2999', 'soon') }, { requiredKeys: ['id', 'reason'] }), { selector: (one) => one.id })
    const answer = fc.record({ interruptId: id, status: fc.constantFrom<ResumeEntry['status']>('resolved', 'cancelled'), payload: fc.jsonValue() }, { requiredKeys: ['interruptId', 'status'] })
    fc.assert(
      fc.property(interrupts, fc.array(answer, { maxLength: 5 }), (asked, answers) => {
        const given = new Set(answers.map(({ interruptId }) => interruptId))
        const isWhole = given.size === answers.length && given.size === asked.length && asked.every((one) => given.has(one.id))
        const answerable = answers.every(({ interruptId, status }) => status === 'cancelled' || asked.every((one) => one.id !== interruptId || one.expiresAt !== '1999'))
        let resume: ResumeEntry[] = []
        const code = codeOf(() => (resume = buildResume(asked as Interrupt[], answers as ResumeEntry[], NOW)))
        expect(code === undefined).toBe(isWhole && answerable)
        if (code !== undefined) return
        expect(resume.map(({ interruptId }) => interruptId)).toEqual(asked.map((one) => one.id))
        expect(parseRunAgentInput({ threadId: 't', runId: 'r', messages: [], resume }, { onDiagnostic: (found) => expect.fail(found.message) })).toMatchObject({ resume })
      }),
    )
  })
})
