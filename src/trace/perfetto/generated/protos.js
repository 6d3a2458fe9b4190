// Generated from schemas/perfetto by scripts/generate-protos.mjs. Do not edit.

/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["nccl-trace"] || ($protobuf.roots["nccl-trace"] = {});

export const perfetto = $root.perfetto = (() => {

    const perfetto = {};

    perfetto.protos = (function() {

        const protos = {};

        protos.Trace = (function() {

            const Trace = function (properties) {
                this.packet = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Trace.prototype.packet = $util.emptyArray;

            Trace.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.packet != null && message.packet.length)
                    for (let i = 0; i < message.packet.length; ++i)
                        $root.perfetto.protos.TracePacket.encode(message.packet[i], writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Trace.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.Trace();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.packet && message.packet.length))
                                message.packet = [];
                            message.packet.push($root.perfetto.protos.TracePacket.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Trace;
        })();

        protos.TracePacket = (function() {

            const TracePacket = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TracePacket.prototype.timestamp = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            TracePacket.prototype.timestampClockId = 0;
            TracePacket.prototype.trustedPacketSequenceId = null;
            TracePacket.prototype.sequenceFlags = 0;
            TracePacket.prototype.internedData = null;
            TracePacket.prototype.tracePacketDefaults = null;
            TracePacket.prototype.firstPacketOnSequence = false;
            TracePacket.prototype.previousPacketDropped = 0;
            TracePacket.prototype.clockSnapshot = null;
            TracePacket.prototype.trackEvent = null;
            TracePacket.prototype.trackDescriptor = null;
            TracePacket.prototype.traceUuid = null;
            TracePacket.prototype.traceAttributes = null;

            let $oneOfFields;

            $Object.defineProperty(TracePacket.prototype, "optionalTrustedPacketSequenceId", {
                get: $util.oneOfGetter($oneOfFields = ["trustedPacketSequenceId"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            $Object.defineProperty(TracePacket.prototype, "data", {
                get: $util.oneOfGetter($oneOfFields = ["clockSnapshot", "trackEvent", "trackDescriptor", "traceUuid", "traceAttributes"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            TracePacket.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.clockSnapshot != null && $Object.hasOwnProperty.call(message, "clockSnapshot"))
                    $root.perfetto.protos.ClockSnapshot.encode(message.clockSnapshot, writer.uint32(50).fork(), _depth + 1).ldelim();
                if (message.timestamp != null && $Object.hasOwnProperty.call(message, "timestamp"))
                    writer.uint32(64).uint64(message.timestamp);
                if (message.trustedPacketSequenceId != null && $Object.hasOwnProperty.call(message, "trustedPacketSequenceId"))
                    writer.uint32(80).uint32(message.trustedPacketSequenceId);
                if (message.trackEvent != null && $Object.hasOwnProperty.call(message, "trackEvent"))
                    $root.perfetto.protos.TrackEvent.encode(message.trackEvent, writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.internedData != null && $Object.hasOwnProperty.call(message, "internedData"))
                    $root.perfetto.protos.InternedData.encode(message.internedData, writer.uint32(98).fork(), _depth + 1).ldelim();
                if (message.sequenceFlags != null && $Object.hasOwnProperty.call(message, "sequenceFlags"))
                    writer.uint32(104).uint32(message.sequenceFlags);
                if (message.previousPacketDropped != null && $Object.hasOwnProperty.call(message, "previousPacketDropped"))
                    writer.uint32(336).uint32(message.previousPacketDropped);
                if (message.timestampClockId != null && $Object.hasOwnProperty.call(message, "timestampClockId"))
                    writer.uint32(464).uint32(message.timestampClockId);
                if (message.tracePacketDefaults != null && $Object.hasOwnProperty.call(message, "tracePacketDefaults"))
                    $root.perfetto.protos.TracePacketDefaults.encode(message.tracePacketDefaults, writer.uint32(474).fork(), _depth + 1).ldelim();
                if (message.trackDescriptor != null && $Object.hasOwnProperty.call(message, "trackDescriptor"))
                    $root.perfetto.protos.TrackDescriptor.encode(message.trackDescriptor, writer.uint32(482).fork(), _depth + 1).ldelim();
                if (message.firstPacketOnSequence != null && $Object.hasOwnProperty.call(message, "firstPacketOnSequence"))
                    writer.uint32(696).bool(message.firstPacketOnSequence);
                if (message.traceUuid != null && $Object.hasOwnProperty.call(message, "traceUuid"))
                    $root.perfetto.protos.TraceUuid.encode(message.traceUuid, writer.uint32(714).fork(), _depth + 1).ldelim();
                if (message.traceAttributes != null && $Object.hasOwnProperty.call(message, "traceAttributes"))
                    $root.perfetto.protos.TraceAttributes.encode(message.traceAttributes, writer.uint32(1010).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TracePacket.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TracePacket();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 8: {
                            if (wireType !== 0)
                                break;
                            message.timestamp = reader.uint64();
                            continue;
                        }
                    case 58: {
                            if (wireType !== 0)
                                break;
                            message.timestampClockId = reader.uint32();
                            continue;
                        }
                    case 10: {
                            if (wireType !== 0)
                                break;
                            message.trustedPacketSequenceId = reader.uint32();
                            message.optionalTrustedPacketSequenceId = "trustedPacketSequenceId";
                            continue;
                        }
                    case 13: {
                            if (wireType !== 0)
                                break;
                            message.sequenceFlags = reader.uint32();
                            continue;
                        }
                    case 12: {
                            if (wireType !== 2)
                                break;
                            message.internedData = $root.perfetto.protos.InternedData.decode(reader, reader.size(), $undefined, _depth + 1, message.internedData);
                            continue;
                        }
                    case 59: {
                            if (wireType !== 2)
                                break;
                            message.tracePacketDefaults = $root.perfetto.protos.TracePacketDefaults.decode(reader, reader.size(), $undefined, _depth + 1, message.tracePacketDefaults);
                            continue;
                        }
                    case 87: {
                            if (wireType !== 0)
                                break;
                            message.firstPacketOnSequence = reader.bool();
                            continue;
                        }
                    case 42: {
                            if (wireType !== 0)
                                break;
                            message.previousPacketDropped = reader.uint32();
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.clockSnapshot = $root.perfetto.protos.ClockSnapshot.decode(reader, reader.size(), $undefined, _depth + 1, message.clockSnapshot);
                            message.data = "clockSnapshot";
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.trackEvent = $root.perfetto.protos.TrackEvent.decode(reader, reader.size(), $undefined, _depth + 1, message.trackEvent);
                            message.data = "trackEvent";
                            continue;
                        }
                    case 60: {
                            if (wireType !== 2)
                                break;
                            message.trackDescriptor = $root.perfetto.protos.TrackDescriptor.decode(reader, reader.size(), $undefined, _depth + 1, message.trackDescriptor);
                            message.data = "trackDescriptor";
                            continue;
                        }
                    case 89: {
                            if (wireType !== 2)
                                break;
                            message.traceUuid = $root.perfetto.protos.TraceUuid.decode(reader, reader.size(), $undefined, _depth + 1, message.traceUuid);
                            message.data = "traceUuid";
                            continue;
                        }
                    case 126: {
                            if (wireType !== 2)
                                break;
                            message.traceAttributes = $root.perfetto.protos.TraceAttributes.decode(reader, reader.size(), $undefined, _depth + 1, message.traceAttributes);
                            message.data = "traceAttributes";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            TracePacket.SequenceFlags = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "SEQ_UNSPECIFIED"] = 0;
                values[valuesById[1] = "SEQ_INCREMENTAL_STATE_CLEARED"] = 1;
                values[valuesById[2] = "SEQ_NEEDS_INCREMENTAL_STATE"] = 2;
                return values;
            })();

            return TracePacket;
        })();

        protos.TracePacketDefaults = (function() {

            const TracePacketDefaults = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TracePacketDefaults.prototype.timestampClockId = 0;
            TracePacketDefaults.prototype.trackEventDefaults = null;

            TracePacketDefaults.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.trackEventDefaults != null && $Object.hasOwnProperty.call(message, "trackEventDefaults"))
                    $root.perfetto.protos.TrackEventDefaults.encode(message.trackEventDefaults, writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.timestampClockId != null && $Object.hasOwnProperty.call(message, "timestampClockId"))
                    writer.uint32(464).uint32(message.timestampClockId);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TracePacketDefaults.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TracePacketDefaults();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 58: {
                            if (wireType !== 0)
                                break;
                            message.timestampClockId = reader.uint32();
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.trackEventDefaults = $root.perfetto.protos.TrackEventDefaults.decode(reader, reader.size(), $undefined, _depth + 1, message.trackEventDefaults);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return TracePacketDefaults;
        })();

        protos.TraceUuid = (function() {

            const TraceUuid = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TraceUuid.prototype.msb = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
            TraceUuid.prototype.lsb = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

            TraceUuid.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.msb != null && $Object.hasOwnProperty.call(message, "msb"))
                    writer.uint32(8).int64(message.msb);
                if (message.lsb != null && $Object.hasOwnProperty.call(message, "lsb"))
                    writer.uint32(16).int64(message.lsb);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TraceUuid.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TraceUuid();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.msb = reader.int64();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            message.lsb = reader.int64();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return TraceUuid;
        })();

        protos.BuiltinClock = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "BUILTIN_CLOCK_UNKNOWN"] = 0;
            values[valuesById[1] = "BUILTIN_CLOCK_REALTIME"] = 1;
            values[valuesById[2] = "BUILTIN_CLOCK_REALTIME_COARSE"] = 2;
            values[valuesById[3] = "BUILTIN_CLOCK_MONOTONIC"] = 3;
            values[valuesById[4] = "BUILTIN_CLOCK_MONOTONIC_COARSE"] = 4;
            values[valuesById[5] = "BUILTIN_CLOCK_MONOTONIC_RAW"] = 5;
            values[valuesById[6] = "BUILTIN_CLOCK_BOOTTIME"] = 6;
            return values;
        })();

        protos.ClockSnapshot = (function() {

            const ClockSnapshot = function (properties) {
                this.clocks = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClockSnapshot.prototype.clocks = $util.emptyArray;
            ClockSnapshot.prototype.primaryTraceClock = 0;

            ClockSnapshot.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.clocks != null && message.clocks.length)
                    for (let i = 0; i < message.clocks.length; ++i)
                        $root.perfetto.protos.ClockSnapshot.Clock.encode(message.clocks[i], writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.primaryTraceClock != null && $Object.hasOwnProperty.call(message, "primaryTraceClock"))
                    writer.uint32(16).int32(message.primaryTraceClock);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClockSnapshot.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.ClockSnapshot();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.clocks && message.clocks.length))
                                message.clocks = [];
                            message.clocks.push($root.perfetto.protos.ClockSnapshot.Clock.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.BuiltinClock[value] !== $undefined)
                                message.primaryTraceClock = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ClockSnapshot.Clock = (function() {

                const Clock = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Clock.prototype.clockId = 0;
                Clock.prototype.timestamp = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Clock.prototype.isIncremental = false;
                Clock.prototype.unitMultiplierNs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

                Clock.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.clockId != null && $Object.hasOwnProperty.call(message, "clockId"))
                        writer.uint32(8).uint32(message.clockId);
                    if (message.timestamp != null && $Object.hasOwnProperty.call(message, "timestamp"))
                        writer.uint32(16).uint64(message.timestamp);
                    if (message.isIncremental != null && $Object.hasOwnProperty.call(message, "isIncremental"))
                        writer.uint32(24).bool(message.isIncremental);
                    if (message.unitMultiplierNs != null && $Object.hasOwnProperty.call(message, "unitMultiplierNs"))
                        writer.uint32(32).uint64(message.unitMultiplierNs);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Clock.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.perfetto.protos.ClockSnapshot.Clock();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 0)
                                    break;
                                message.clockId = reader.uint32();
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                message.timestamp = reader.uint64();
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                message.isIncremental = reader.bool();
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                message.unitMultiplierNs = reader.uint64();
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Clock;
            })();

            return ClockSnapshot;
        })();

        protos.InternedData = (function() {

            const InternedData = function (properties) {
                this.eventCategories = [];
                this.eventNames = [];
                this.debugAnnotationNames = [];
                this.debugAnnotationStringValues = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            InternedData.prototype.eventCategories = $util.emptyArray;
            InternedData.prototype.eventNames = $util.emptyArray;
            InternedData.prototype.debugAnnotationNames = $util.emptyArray;
            InternedData.prototype.debugAnnotationStringValues = $util.emptyArray;

            InternedData.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.eventCategories != null && message.eventCategories.length)
                    for (let i = 0; i < message.eventCategories.length; ++i)
                        $root.perfetto.protos.EventCategory.encode(message.eventCategories[i], writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.eventNames != null && message.eventNames.length)
                    for (let i = 0; i < message.eventNames.length; ++i)
                        $root.perfetto.protos.EventName.encode(message.eventNames[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.debugAnnotationNames != null && message.debugAnnotationNames.length)
                    for (let i = 0; i < message.debugAnnotationNames.length; ++i)
                        $root.perfetto.protos.DebugAnnotationName.encode(message.debugAnnotationNames[i], writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.debugAnnotationStringValues != null && message.debugAnnotationStringValues.length)
                    for (let i = 0; i < message.debugAnnotationStringValues.length; ++i)
                        $root.perfetto.protos.InternedString.encode(message.debugAnnotationStringValues[i], writer.uint32(234).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            InternedData.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.InternedData();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.eventCategories && message.eventCategories.length))
                                message.eventCategories = [];
                            message.eventCategories.push($root.perfetto.protos.EventCategory.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.eventNames && message.eventNames.length))
                                message.eventNames = [];
                            message.eventNames.push($root.perfetto.protos.EventName.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.debugAnnotationNames && message.debugAnnotationNames.length))
                                message.debugAnnotationNames = [];
                            message.debugAnnotationNames.push($root.perfetto.protos.DebugAnnotationName.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 29: {
                            if (wireType !== 2)
                                break;
                            if (!(message.debugAnnotationStringValues && message.debugAnnotationStringValues.length))
                                message.debugAnnotationStringValues = [];
                            message.debugAnnotationStringValues.push($root.perfetto.protos.InternedString.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return InternedData;
        })();

        protos.EventCategory = (function() {

            const EventCategory = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            EventCategory.prototype.iid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            EventCategory.prototype.name = "";

            EventCategory.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.iid != null && $Object.hasOwnProperty.call(message, "iid"))
                    writer.uint32(8).uint64(message.iid);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(18).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            EventCategory.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.EventCategory();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.iid = reader.uint64();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.string();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return EventCategory;
        })();

        protos.EventName = (function() {

            const EventName = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            EventName.prototype.iid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            EventName.prototype.name = "";

            EventName.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.iid != null && $Object.hasOwnProperty.call(message, "iid"))
                    writer.uint32(8).uint64(message.iid);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(18).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            EventName.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.EventName();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.iid = reader.uint64();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.string();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return EventName;
        })();

        protos.DebugAnnotationName = (function() {

            const DebugAnnotationName = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DebugAnnotationName.prototype.iid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            DebugAnnotationName.prototype.name = "";

            DebugAnnotationName.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.iid != null && $Object.hasOwnProperty.call(message, "iid"))
                    writer.uint32(8).uint64(message.iid);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(18).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DebugAnnotationName.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.DebugAnnotationName();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.iid = reader.uint64();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.string();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return DebugAnnotationName;
        })();

        protos.InternedString = (function() {

            const InternedString = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            InternedString.prototype.iid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            InternedString.prototype.str = $util.newBuffer([]);

            InternedString.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.iid != null && $Object.hasOwnProperty.call(message, "iid"))
                    writer.uint32(8).uint64(message.iid);
                if (message.str != null && $Object.hasOwnProperty.call(message, "str"))
                    writer.uint32(18).bytes(message.str);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            InternedString.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.InternedString();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.iid = reader.uint64();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.str = reader.bytes();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return InternedString;
        })();

        protos.TraceAttributes = (function() {

            const TraceAttributes = function (properties) {
                this.attribute = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TraceAttributes.prototype.attribute = $util.emptyArray;

            TraceAttributes.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.attribute != null && message.attribute.length)
                    for (let i = 0; i < message.attribute.length; ++i)
                        $root.perfetto.protos.TraceAttributes.Attribute.encode(message.attribute[i], writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TraceAttributes.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TraceAttributes();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.attribute && message.attribute.length))
                                message.attribute = [];
                            message.attribute.push($root.perfetto.protos.TraceAttributes.Attribute.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            TraceAttributes.Attribute = (function() {

                const Attribute = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Attribute.prototype.key = "";
                Attribute.prototype.longValue = null;
                Attribute.prototype.stringValue = null;

                let $oneOfFields;

                $Object.defineProperty(Attribute.prototype, "value", {
                    get: $util.oneOfGetter($oneOfFields = ["longValue", "stringValue"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                Attribute.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.key != null && $Object.hasOwnProperty.call(message, "key"))
                        writer.uint32(10).string(message.key);
                    if (message.longValue != null && $Object.hasOwnProperty.call(message, "longValue"))
                        writer.uint32(16).int64(message.longValue);
                    if (message.stringValue != null && $Object.hasOwnProperty.call(message, "stringValue"))
                        writer.uint32(26).string(message.stringValue);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Attribute.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.perfetto.protos.TraceAttributes.Attribute();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                message.key = reader.string();
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                message.longValue = reader.int64();
                                message.value = "longValue";
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                message.stringValue = reader.string();
                                message.value = "stringValue";
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Attribute;
            })();

            return TraceAttributes;
        })();

        protos.TrackDescriptor = (function() {

            const TrackDescriptor = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TrackDescriptor.prototype.uuid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            TrackDescriptor.prototype.parentUuid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            TrackDescriptor.prototype.name = null;
            TrackDescriptor.prototype.staticName = null;
            TrackDescriptor.prototype.description = "";
            TrackDescriptor.prototype.process = null;
            TrackDescriptor.prototype.thread = null;
            TrackDescriptor.prototype.counter = null;
            TrackDescriptor.prototype.state = null;
            TrackDescriptor.prototype.childOrdering = 0;
            TrackDescriptor.prototype.siblingOrderRank = 0;
            TrackDescriptor.prototype.siblingMergeBehavior = 0;
            TrackDescriptor.prototype.processOrdering = 0;
            TrackDescriptor.prototype.threadOrdering = 0;

            let $oneOfFields;

            $Object.defineProperty(TrackDescriptor.prototype, "staticOrDynamicName", {
                get: $util.oneOfGetter($oneOfFields = ["name", "staticName"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            TrackDescriptor.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.uuid != null && $Object.hasOwnProperty.call(message, "uuid"))
                    writer.uint32(8).uint64(message.uuid);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(18).string(message.name);
                if (message.process != null && $Object.hasOwnProperty.call(message, "process"))
                    $root.perfetto.protos.ProcessDescriptor.encode(message.process, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.thread != null && $Object.hasOwnProperty.call(message, "thread"))
                    $root.perfetto.protos.ThreadDescriptor.encode(message.thread, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.parentUuid != null && $Object.hasOwnProperty.call(message, "parentUuid"))
                    writer.uint32(40).uint64(message.parentUuid);
                if (message.counter != null && $Object.hasOwnProperty.call(message, "counter"))
                    $root.perfetto.protos.CounterDescriptor.encode(message.counter, writer.uint32(66).fork(), _depth + 1).ldelim();
                if (message.staticName != null && $Object.hasOwnProperty.call(message, "staticName"))
                    writer.uint32(82).string(message.staticName);
                if (message.childOrdering != null && $Object.hasOwnProperty.call(message, "childOrdering"))
                    writer.uint32(88).int32(message.childOrdering);
                if (message.siblingOrderRank != null && $Object.hasOwnProperty.call(message, "siblingOrderRank"))
                    writer.uint32(96).int32(message.siblingOrderRank);
                if (message.description != null && $Object.hasOwnProperty.call(message, "description"))
                    writer.uint32(114).string(message.description);
                if (message.siblingMergeBehavior != null && $Object.hasOwnProperty.call(message, "siblingMergeBehavior"))
                    writer.uint32(120).int32(message.siblingMergeBehavior);
                if (message.state != null && $Object.hasOwnProperty.call(message, "state"))
                    $root.perfetto.protos.StateDescriptor.encode(message.state, writer.uint32(146).fork(), _depth + 1).ldelim();
                if (message.processOrdering != null && $Object.hasOwnProperty.call(message, "processOrdering"))
                    writer.uint32(152).int32(message.processOrdering);
                if (message.threadOrdering != null && $Object.hasOwnProperty.call(message, "threadOrdering"))
                    writer.uint32(160).int32(message.threadOrdering);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TrackDescriptor.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TrackDescriptor();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.uuid = reader.uint64();
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            message.parentUuid = reader.uint64();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.string();
                            message.staticOrDynamicName = "name";
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.staticName = reader.string();
                            message.staticOrDynamicName = "staticName";
                            continue;
                        }
                    case 14: {
                            if (wireType !== 2)
                                break;
                            message.description = reader.string();
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.process = $root.perfetto.protos.ProcessDescriptor.decode(reader, reader.size(), $undefined, _depth + 1, message.process);
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.thread = $root.perfetto.protos.ThreadDescriptor.decode(reader, reader.size(), $undefined, _depth + 1, message.thread);
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.counter = $root.perfetto.protos.CounterDescriptor.decode(reader, reader.size(), $undefined, _depth + 1, message.counter);
                            continue;
                        }
                    case 18: {
                            if (wireType !== 2)
                                break;
                            message.state = $root.perfetto.protos.StateDescriptor.decode(reader, reader.size(), $undefined, _depth + 1, message.state);
                            continue;
                        }
                    case 11: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.TrackDescriptor.ChildTracksOrdering[value] !== $undefined)
                                message.childOrdering = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    case 12: {
                            if (wireType !== 0)
                                break;
                            message.siblingOrderRank = reader.int32();
                            continue;
                        }
                    case 15: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.TrackDescriptor.SiblingMergeBehavior[value] !== $undefined)
                                message.siblingMergeBehavior = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    case 19: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.TrackDescriptor.ProcessOrdering[value] !== $undefined)
                                message.processOrdering = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    case 20: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.TrackDescriptor.ThreadOrdering[value] !== $undefined)
                                message.threadOrdering = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            TrackDescriptor.ChildTracksOrdering = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "UNKNOWN"] = 0;
                values[valuesById[1] = "LEXICOGRAPHIC"] = 1;
                values[valuesById[2] = "CHRONOLOGICAL"] = 2;
                values[valuesById[3] = "EXPLICIT"] = 3;
                return values;
            })();

            TrackDescriptor.SiblingMergeBehavior = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "SIBLING_MERGE_BEHAVIOR_UNSPECIFIED"] = 0;
                values[valuesById[1] = "SIBLING_MERGE_BEHAVIOR_BY_TRACK_NAME"] = 1;
                values[valuesById[2] = "SIBLING_MERGE_BEHAVIOR_NONE"] = 2;
                values[valuesById[3] = "SIBLING_MERGE_BEHAVIOR_BY_SIBLING_MERGE_KEY"] = 3;
                return values;
            })();

            TrackDescriptor.ProcessOrdering = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "PROCESS_ORDERING_UNSPECIFIED"] = 0;
                values[valuesById[1] = "PROCESS_ORDERING_EXPLICIT"] = 1;
                return values;
            })();

            TrackDescriptor.ThreadOrdering = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "THREAD_ORDERING_UNSPECIFIED"] = 0;
                values[valuesById[1] = "THREAD_ORDERING_EXPLICIT"] = 1;
                return values;
            })();

            return TrackDescriptor;
        })();

        protos.ProcessDescriptor = (function() {

            const ProcessDescriptor = function (properties) {
                this.cmdline = [];
                this.processLabels = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ProcessDescriptor.prototype.pid = 0;
            ProcessDescriptor.prototype.cmdline = $util.emptyArray;
            ProcessDescriptor.prototype.processName = "";
            ProcessDescriptor.prototype.processLabels = $util.emptyArray;

            ProcessDescriptor.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.pid != null && $Object.hasOwnProperty.call(message, "pid"))
                    writer.uint32(8).int32(message.pid);
                if (message.cmdline != null && message.cmdline.length)
                    for (let i = 0; i < message.cmdline.length; ++i)
                        writer.uint32(18).string(message.cmdline[i]);
                if (message.processName != null && $Object.hasOwnProperty.call(message, "processName"))
                    writer.uint32(50).string(message.processName);
                if (message.processLabels != null && message.processLabels.length)
                    for (let i = 0; i < message.processLabels.length; ++i)
                        writer.uint32(66).string(message.processLabels[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ProcessDescriptor.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.ProcessDescriptor();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.pid = reader.int32();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.cmdline && message.cmdline.length))
                                message.cmdline = [];
                            message.cmdline.push(reader.string());
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.processName = reader.string();
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if (!(message.processLabels && message.processLabels.length))
                                message.processLabels = [];
                            message.processLabels.push(reader.string());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return ProcessDescriptor;
        })();

        protos.ThreadDescriptor = (function() {

            const ThreadDescriptor = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ThreadDescriptor.prototype.pid = 0;
            ThreadDescriptor.prototype.tid = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
            ThreadDescriptor.prototype.threadName = "";

            ThreadDescriptor.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.pid != null && $Object.hasOwnProperty.call(message, "pid"))
                    writer.uint32(8).int32(message.pid);
                if (message.tid != null && $Object.hasOwnProperty.call(message, "tid"))
                    writer.uint32(16).int64(message.tid);
                if (message.threadName != null && $Object.hasOwnProperty.call(message, "threadName"))
                    writer.uint32(42).string(message.threadName);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ThreadDescriptor.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.ThreadDescriptor();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.pid = reader.int32();
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            message.tid = reader.int64();
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.threadName = reader.string();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return ThreadDescriptor;
        })();

        protos.CounterDescriptor = (function() {

            const CounterDescriptor = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            CounterDescriptor.prototype.unit = 0;
            CounterDescriptor.prototype.unitMultiplier = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
            CounterDescriptor.prototype.isIncremental = false;
            CounterDescriptor.prototype.unitName = "";

            CounterDescriptor.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.unit != null && $Object.hasOwnProperty.call(message, "unit"))
                    writer.uint32(24).int32(message.unit);
                if (message.unitMultiplier != null && $Object.hasOwnProperty.call(message, "unitMultiplier"))
                    writer.uint32(32).int64(message.unitMultiplier);
                if (message.isIncremental != null && $Object.hasOwnProperty.call(message, "isIncremental"))
                    writer.uint32(40).bool(message.isIncremental);
                if (message.unitName != null && $Object.hasOwnProperty.call(message, "unitName"))
                    writer.uint32(50).string(message.unitName);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            CounterDescriptor.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.CounterDescriptor();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 3: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.CounterDescriptor.Unit[value] !== $undefined)
                                message.unit = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            message.unitMultiplier = reader.int64();
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            message.isIncremental = reader.bool();
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.unitName = reader.string();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            CounterDescriptor.Unit = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "UNIT_UNSPECIFIED"] = 0;
                values[valuesById[1] = "UNIT_TIME_NS"] = 1;
                values[valuesById[2] = "UNIT_COUNT"] = 2;
                values[valuesById[3] = "UNIT_SIZE_BYTES"] = 3;
                return values;
            })();

            return CounterDescriptor;
        })();

        protos.StateDescriptor = (function() {

            const StateDescriptor = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            StateDescriptor.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            StateDescriptor.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.StateDescriptor();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    reader.skipType(tag & 7, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return StateDescriptor;
        })();

        protos.TrackEvent = (function() {

            const TrackEvent = function (properties) {
                this.debugAnnotations = [];
                this.categoryIids = [];
                this.categories = [];
                this.flowIds = [];
                this.terminatingFlowIds = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TrackEvent.prototype.debugAnnotations = $util.emptyArray;
            TrackEvent.prototype.type = 0;
            TrackEvent.prototype.nameIid = null;
            TrackEvent.prototype.name = null;
            TrackEvent.prototype.categoryIids = $util.emptyArray;
            TrackEvent.prototype.categories = $util.emptyArray;
            TrackEvent.prototype.trackUuid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            TrackEvent.prototype.counterValue = null;
            TrackEvent.prototype.doubleCounterValue = null;
            TrackEvent.prototype.flowIds = $util.emptyArray;
            TrackEvent.prototype.terminatingFlowIds = $util.emptyArray;
            TrackEvent.prototype.correlationId = null;
            TrackEvent.prototype.correlationIdStr = null;

            let $oneOfFields;

            $Object.defineProperty(TrackEvent.prototype, "nameField", {
                get: $util.oneOfGetter($oneOfFields = ["nameIid", "name"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            $Object.defineProperty(TrackEvent.prototype, "counterValueField", {
                get: $util.oneOfGetter($oneOfFields = ["counterValue", "doubleCounterValue"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            $Object.defineProperty(TrackEvent.prototype, "correlationIdField", {
                get: $util.oneOfGetter($oneOfFields = ["correlationId", "correlationIdStr"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            TrackEvent.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.categoryIids != null && message.categoryIids.length)
                    for (let i = 0; i < message.categoryIids.length; ++i)
                        writer.uint32(24).uint64(message.categoryIids[i]);
                if (message.debugAnnotations != null && message.debugAnnotations.length)
                    for (let i = 0; i < message.debugAnnotations.length; ++i)
                        $root.perfetto.protos.DebugAnnotation.encode(message.debugAnnotations[i], writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.type != null && $Object.hasOwnProperty.call(message, "type"))
                    writer.uint32(72).int32(message.type);
                if (message.nameIid != null && $Object.hasOwnProperty.call(message, "nameIid"))
                    writer.uint32(80).uint64(message.nameIid);
                if (message.trackUuid != null && $Object.hasOwnProperty.call(message, "trackUuid"))
                    writer.uint32(88).uint64(message.trackUuid);
                if (message.categories != null && message.categories.length)
                    for (let i = 0; i < message.categories.length; ++i)
                        writer.uint32(178).string(message.categories[i]);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(186).string(message.name);
                if (message.counterValue != null && $Object.hasOwnProperty.call(message, "counterValue"))
                    writer.uint32(240).int64(message.counterValue);
                if (message.doubleCounterValue != null && $Object.hasOwnProperty.call(message, "doubleCounterValue"))
                    writer.uint32(353).double(message.doubleCounterValue);
                if (message.flowIds != null && message.flowIds.length)
                    for (let i = 0; i < message.flowIds.length; ++i)
                        writer.uint32(377).fixed64(message.flowIds[i]);
                if (message.terminatingFlowIds != null && message.terminatingFlowIds.length)
                    for (let i = 0; i < message.terminatingFlowIds.length; ++i)
                        writer.uint32(385).fixed64(message.terminatingFlowIds[i]);
                if (message.correlationId != null && $Object.hasOwnProperty.call(message, "correlationId"))
                    writer.uint32(416).uint64(message.correlationId);
                if (message.correlationIdStr != null && $Object.hasOwnProperty.call(message, "correlationIdStr"))
                    writer.uint32(426).string(message.correlationIdStr);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TrackEvent.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TrackEvent();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.debugAnnotations && message.debugAnnotations.length))
                                message.debugAnnotations = [];
                            message.debugAnnotations.push($root.perfetto.protos.DebugAnnotation.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 9: {
                            if (wireType !== 0)
                                break;
                            value = reader.int32();
                            if ($root.perfetto.protos.TrackEvent.Type[value] !== $undefined)
                                message.type = value;
                            else if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                            continue;
                        }
                    case 10: {
                            if (wireType !== 0)
                                break;
                            message.nameIid = reader.uint64();
                            message.nameField = "nameIid";
                            continue;
                        }
                    case 23: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.string();
                            message.nameField = "name";
                            continue;
                        }
                    case 3: {
                            if (wireType === 2) {
                                if (!(message.categoryIids && message.categoryIids.length))
                                    message.categoryIids = [];
                                reader.uint64s(message.categoryIids);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.categoryIids && message.categoryIids.length))
                                message.categoryIids = [];
                            message.categoryIids.push(reader.uint64());
                            continue;
                        }
                    case 22: {
                            if (wireType !== 2)
                                break;
                            if (!(message.categories && message.categories.length))
                                message.categories = [];
                            message.categories.push(reader.string());
                            continue;
                        }
                    case 11: {
                            if (wireType !== 0)
                                break;
                            message.trackUuid = reader.uint64();
                            continue;
                        }
                    case 30: {
                            if (wireType !== 0)
                                break;
                            message.counterValue = reader.int64();
                            message.counterValueField = "counterValue";
                            continue;
                        }
                    case 44: {
                            if (wireType !== 1)
                                break;
                            message.doubleCounterValue = reader.double();
                            message.counterValueField = "doubleCounterValue";
                            continue;
                        }
                    case 47: {
                            if (wireType === 2) {
                                if (!(message.flowIds && message.flowIds.length))
                                    message.flowIds = [];
                                reader.fixed64s(message.flowIds);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.flowIds && message.flowIds.length))
                                message.flowIds = [];
                            message.flowIds.push(reader.fixed64());
                            continue;
                        }
                    case 48: {
                            if (wireType === 2) {
                                if (!(message.terminatingFlowIds && message.terminatingFlowIds.length))
                                    message.terminatingFlowIds = [];
                                reader.fixed64s(message.terminatingFlowIds);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.terminatingFlowIds && message.terminatingFlowIds.length))
                                message.terminatingFlowIds = [];
                            message.terminatingFlowIds.push(reader.fixed64());
                            continue;
                        }
                    case 52: {
                            if (wireType !== 0)
                                break;
                            message.correlationId = reader.uint64();
                            message.correlationIdField = "correlationId";
                            continue;
                        }
                    case 53: {
                            if (wireType !== 2)
                                break;
                            message.correlationIdStr = reader.string();
                            message.correlationIdField = "correlationIdStr";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            TrackEvent.Type = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "TYPE_UNSPECIFIED"] = 0;
                values[valuesById[1] = "TYPE_SLICE_BEGIN"] = 1;
                values[valuesById[2] = "TYPE_SLICE_END"] = 2;
                values[valuesById[3] = "TYPE_INSTANT"] = 3;
                values[valuesById[4] = "TYPE_COUNTER"] = 4;
                values[valuesById[5] = "TYPE_STATE"] = 5;
                return values;
            })();

            return TrackEvent;
        })();

        protos.TrackEventDefaults = (function() {

            const TrackEventDefaults = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TrackEventDefaults.prototype.trackUuid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            TrackEventDefaults.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.trackUuid != null && $Object.hasOwnProperty.call(message, "trackUuid"))
                    writer.uint32(88).uint64(message.trackUuid);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TrackEventDefaults.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.TrackEventDefaults();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 11: {
                            if (wireType !== 0)
                                break;
                            message.trackUuid = reader.uint64();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return TrackEventDefaults;
        })();

        protos.DebugAnnotation = (function() {

            const DebugAnnotation = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DebugAnnotation.prototype.nameIid = null;
            DebugAnnotation.prototype.name = null;
            DebugAnnotation.prototype.boolValue = null;
            DebugAnnotation.prototype.uintValue = null;
            DebugAnnotation.prototype.intValue = null;
            DebugAnnotation.prototype.doubleValue = null;
            DebugAnnotation.prototype.stringValue = null;
            DebugAnnotation.prototype.stringValueIid = null;

            let $oneOfFields;

            $Object.defineProperty(DebugAnnotation.prototype, "nameField", {
                get: $util.oneOfGetter($oneOfFields = ["nameIid", "name"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            $Object.defineProperty(DebugAnnotation.prototype, "value", {
                get: $util.oneOfGetter($oneOfFields = ["boolValue", "uintValue", "intValue", "doubleValue", "stringValue", "stringValueIid"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            DebugAnnotation.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.nameIid != null && $Object.hasOwnProperty.call(message, "nameIid"))
                    writer.uint32(8).uint64(message.nameIid);
                if (message.boolValue != null && $Object.hasOwnProperty.call(message, "boolValue"))
                    writer.uint32(16).bool(message.boolValue);
                if (message.uintValue != null && $Object.hasOwnProperty.call(message, "uintValue"))
                    writer.uint32(24).uint64(message.uintValue);
                if (message.intValue != null && $Object.hasOwnProperty.call(message, "intValue"))
                    writer.uint32(32).int64(message.intValue);
                if (message.doubleValue != null && $Object.hasOwnProperty.call(message, "doubleValue"))
                    writer.uint32(41).double(message.doubleValue);
                if (message.stringValue != null && $Object.hasOwnProperty.call(message, "stringValue"))
                    writer.uint32(50).string(message.stringValue);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(82).string(message.name);
                if (message.stringValueIid != null && $Object.hasOwnProperty.call(message, "stringValueIid"))
                    writer.uint32(136).uint64(message.stringValueIid);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DebugAnnotation.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.perfetto.protos.DebugAnnotation();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.nameIid = reader.uint64();
                            message.nameField = "nameIid";
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.string();
                            message.nameField = "name";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            message.boolValue = reader.bool();
                            message.value = "boolValue";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            message.uintValue = reader.uint64();
                            message.value = "uintValue";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            message.intValue = reader.int64();
                            message.value = "intValue";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 1)
                                break;
                            message.doubleValue = reader.double();
                            message.value = "doubleValue";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.stringValue = reader.string();
                            message.value = "stringValue";
                            continue;
                        }
                    case 17: {
                            if (wireType !== 0)
                                break;
                            message.stringValueIid = reader.uint64();
                            message.value = "stringValueIid";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return DebugAnnotation;
        })();

        return protos;
    })();

    return perfetto;
})();

export {
  $root as default
};
