/**
 * One fault of each kind, by what a client can make of it: for tests that run over all of them. Places are such that
 * `recordedRun()` reaches them.
 */
import {
  allTogether,
  both,
  bufferingProxy,
  byteByByte,
  closeAfter,
  cutAfter,
  cutAt,
  cutInHead,
  fromStart,
  heartbeats,
  htmlPage,
  overlap,
  resetAt,
  stallAfter,
  stallAt,
  neverAnswer,
  status,
  twice,
  unterminated,
  wrappedInJson,
  type Fault,
} from './fault.ts'

type Named = Readonly<Record<string, Fault>>

/** Everything comes: a client ends up with the same without asking again. */
export const harmless: Named = {
  'byte by byte': byteByByte,
  'pieces of 7 bytes': { chop: { size: 7 } },
  'all together': allTogether,
  'buffering proxy': bufferingProxy,
  'comments between events': heartbeats(1, 'comment'),
  'blank lines between events': heartbeats(2, 'blank'),
  'a retry field': { retryMs: 1 },
  'comments, byte by byte': both(heartbeats(1), byteByByte),
}

/** The connection is lost, which shows at once. Where a server offers it, a client resumes. */
export const lost: Named = {
  'cut before the head': cutInHead(0),
  'cut in the head': cutInHead(20),
  'cut before the body': cutAt(0),
  'cut in the first event': cutAt(30),
  'cut in the middle of an event': cutAt(2500),
  'cut between events': cutAfter(20),
  'cut before the last event': { ending: { at: { event: -1 }, how: 'cut' } },
  'reset in the body': resetAt(2000),
  'clean end in the middle of an event': { ending: { at: { byte: 1500 }, how: 'end' } },
  'clean end without a terminal event': unterminated,
  'content-length too long': { lengthOff: 20 },
}

/** Nothing shows: only a client with a clock finds out. */
export const silent: Named = {
  'never answered': neverAnswer,
  'stalled before the body': stallAt(0),
  'stalled in the middle of an event': stallAt(2500),
  'stalled between events': stallAfter(20),
}

/** What comes was seen before; meaningful on a connection that resumes. */
export const repeated: Named = {
  'each event twice': twice,
  'from 5 events before the cursor': overlap(5),
  'from the start': fromStart,
}

/** The server says: not now. */
export const later: Named = {
  '503 with Retry-After': status(503, '0'),
  '503': status(503),
  '429 with Retry-After': status(429, '0'),
  '408': status(408),
  '425': status(425),
}

/** Asking again does not help. */
export const final: Named = {
  '400': status(400),
  '404': status(404),
  'a page': htmlPage,
  'the stream in JSON': wrappedInJson,
  'another content type': { contentType: 'image/png' },
}

/** For WebSockets alone. */
export const closed: Named = {
  'closed with 1000 in mid-run': closeAfter(20, 1000),
  'closed with 1011 in mid-run': closeAfter(20, 1011),
  'gone (1006) in mid-run': closeAfter(20, 1006),
}
