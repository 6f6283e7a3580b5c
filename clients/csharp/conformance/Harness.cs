using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Rossum.Oz;

/// <summary>The conformance harness of the C# client; see protocols/oz/conformance/README.md.</summary>
internal sealed class Harness
{
    private readonly Dictionary<string, Operator> operators = new Dictionary<string, Operator>();
    private readonly TextWriter output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };

    /// <summary>A client, and the tasks of its texts and gestures in the order in which they were started.</summary>
    private sealed class Operator
    {
        internal OzClient Robot { get; set; }

        internal List<Task> Texts { get; } = new List<Task>();

        internal List<Task> Gestures { get; } = new List<Task>();
    }

    private static void Main() => new Harness().ServeAsync().GetAwaiter().GetResult();

    private async Task ServeAsync()
    {
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        for (var line = input.ReadLine(); line != null; line = input.ReadLine())
        {
            var command = (Dictionary<string, object>)Json.Parse(line);
            var answer = new Dictionary<string, object> { ["id"] = command["id"] };
            try
            {
                var args = (List<object>)command["args"];
                answer["returns"] = await CallAsync((string)command["client"], (string)command["call"], args);
            }
            catch (OzException error)
            {
                answer["fails"] = Failure(error);
            }
            Write(answer);
        }
        foreach (var each in operators.Values)
        {
            await each.Robot.DisconnectAsync();
        }
    }

    private void Write(Dictionary<string, object> line)
    {
        var json = Json.Write(line);
        lock (output)
        {
            output.WriteLine(json);
            output.Flush();
        }
    }

    private async Task<object> CallAsync(string client, string call, List<object> args)
    {
        switch (call)
        {
            case "constants":
                return Constants();
            case "gesture_tags":
                return Enum.GetValues(typeof(Gesture)).Cast<Gesture>().Select(gesture => gesture.Tag());
            case "connect":
                await ConnectAsync(client, (Dictionary<string, object>)args[0]);
                return null;
            default:
                return await CallAsync(operators[client], call, args);
        }
    }

    private async Task ConnectAsync(string client, Dictionary<string, object> options)
    {
        var robot = new OzClient((string)options["host"], Id(options["port"])) { Timeout = Time(options["timeout_ms"]) };
        if (options.ContainsKey("reconnect_ms"))
        {
            robot.ReconnectDelay = Time(options["reconnect_ms"]);
        }
        Listen(robot, (name, fields) => Write(new Dictionary<string, object>(fields) { ["client"] = client, ["event"] = name }));
        operators[client] = new Operator { Robot = robot };
        await robot.ConnectAsync();
    }

    private async Task<object> CallAsync(Operator at, string call, List<object> args)
    {
        var robot = at.Robot;
        switch (call)
        {
            case "disconnect":
                await robot.DisconnectAsync();
                return null;
            case "reset":
                robot.Reset();
                return null;
            case "speak":
                at.Texts.Add(robot.SpeakAsync((string)args[0]));
                return null;
            case "gesture":
                at.Gestures.Add(robot.GestureAsync((Gesture)Id(args[0])));
                return null;
            case "wait_for_speak":
                return await robot.WaitForSpeakAsync(Time(args[0]));
            case "wait_for_gesture":
                return await robot.WaitForGestureAsync(Time(args[0]));
            case "await_text":
                return await AwaitAsync(at.Texts, args);
            case "await_gesture":
                return await AwaitAsync(at.Gestures, args);
            case "set_servo":
                robot.SetServo((Servo)Id(args[0]), Number(args[1]));
                return null;
            case "set_all_servos":
                robot.SetAllServos(((List<object>)args[0]).Select(Number).ToList());
                return null;
            case "servo":
                return robot.GetServo((Servo)Id(args[0]));
            case "all_servos":
                return robot.GetAllServos();
            case "speaking":
                return robot.IsSpeaking;
            case "gesturing":
                return robot.IsGesturing;
            default:
                return Property(robot, call, args);
        }
    }

    /// <summary>All others are properties.</summary>
    private static object Property(OzClient robot, string call, List<object> args)
    {
        var name = PascalCase(call.StartsWith("set_", StringComparison.Ordinal) ? call.Substring(4) : call);
        var property = typeof(OzClient).GetProperty(name) ?? throw new MissingMemberException(name);
        if (args.Count == 0)
        {
            var value = property.GetValue(robot);
            return value is Enum ? Convert.ToInt64(value) : value;
        }
        object argument = args[0];
        if (property.PropertyType.IsEnum)
        {
            argument = Enum.ToObject(property.PropertyType, Id(argument));
        }
        else if (property.PropertyType == typeof(double))
        {
            argument = Number(argument);
        }
        try
        {
            property.SetValue(robot, argument);
        }
        catch (System.Reflection.TargetInvocationException error) when (error.InnerException is OzException)
        {
            throw error.InnerException;
        }
        return null;
    }

    private static async Task<object> AwaitAsync(List<Task> started, List<object> args)
    {
        var task = started[Id(args[0]) - 1];
        if (await Task.WhenAny(task, Task.Delay(Id(args[1]))) != task)
        {
            return false;
        }
        await task;
        return true;
    }

    private static void Listen(OzClient robot, Action<string, Dictionary<string, object>> tell)
    {
        var none = new Dictionary<string, object>();
        robot.Connected += (sender, e) => tell("connected", none);
        robot.Disconnected += (sender, e) => tell("disconnected", Field("reason", e.Reason == null ? null : Failure(e.Reason)));
        robot.ConnectFailed += (sender, e) => tell("connect_failed", Field("error", Failure(e.Error)));
        robot.SpeakStart += (sender, e) => tell("speak_start", none);
        robot.SpeakDone += (sender, e) => tell("speak_done", none);
        robot.GestureStart += (sender, e) => tell("gesture_start", Field("gesture", (uint)e.Gesture));
        robot.GestureDone += (sender, e) => tell("gesture_done", none);
        robot.SpeakGesture += (sender, e) => tell("speak_gesture", Field("gesture", (uint)e.Gesture));
        robot.Utterance += (sender, e) => tell("utterance", Field("options", e.Options.Select(Option)));
        robot.Faces += (sender, e) => tell("faces", Field("faces", e.Faces.Select(Fields)));
        robot.VideoFrame += (sender, e) => tell("video_frame", Field("jpeg", Hex(e.ToArray())));
        robot.InvalidMessage += (sender, e) => tell("invalid_message", Field("error", Failure(e.Error)));
    }

    private static Dictionary<string, object> Field(string name, object value) => new Dictionary<string, object> { [name] = value };

    private static Dictionary<string, object> Option(UtteranceOption option)
    {
        return new Dictionary<string, object> { ["confidence"] = OrText(option.Confidence), ["text"] = option.Text };
    }

    private static Dictionary<string, object> Fields(Face face)
    {
        return new Dictionary<string, object>
        {
            ["confidence"] = OrText(face.Confidence),
            ["x"] = OrText(face.X),
            ["y"] = OrText(face.Y),
            ["width"] = OrText(face.Width),
            ["height"] = OrText(face.Height),
            ["name"] = face.Name,
        };
    }

    private static Dictionary<string, object> Constants()
    {
        var constants = new Dictionary<string, object>
        {
            ["OZ_PORT"] = Protocol.Port,
            ["MAX_SERVOS"] = Protocol.MaxServos,
            ["MAX_GESTURES"] = Protocol.MaxGestures,
        };
        var kinds = new Dictionary<string, Type>
        {
            ["SERVO"] = typeof(Servo),
            ["VGL"] = typeof(VoiceGenderLanguage),
            ["GESTURE"] = typeof(Gesture),
            ["EXPRESSION"] = typeof(Expression),
            ["LOOKAT"] = typeof(LookAt),
            ["MSG"] = typeof(Message),
        };
        foreach (var kind in kinds)
        {
            foreach (var value in Enum.GetValues(kind.Value))
            {
                constants[$"{kind.Key}_{SnakeCase(value.ToString()).ToUpperInvariant()}"] = Convert.ToInt64(value);
            }
        }
        return constants;
    }

    private static Dictionary<string, object> Failure(OzException error)
    {
        return new Dictionary<string, object> { ["kind"] = SnakeCase(error.Kind.ToString()), ["message"] = error.Message };
    }

    private static string PascalCase(string name)
    {
        return string.Concat(name.Split('_').Select(word => char.ToUpperInvariant(word[0]) + word.Substring(1)));
    }

    private static string SnakeCase(string name)
    {
        var words = new StringBuilder();
        foreach (var letter in name)
        {
            if (words.Length > 0 && (char.IsUpper(letter) || char.IsDigit(letter)))
            {
                words.Append('_');
            }
            words.Append(char.ToLowerInvariant(letter));
        }
        return words.ToString();
    }

    private static string Hex(byte[] bytes) => BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();

    private static int Id(object argument) => (int)(double)argument;

    private static TimeSpan Time(object milliseconds) => TimeSpan.FromMilliseconds((double)milliseconds);

    /// <summary>Numbers that JSON does not have are texts.</summary>
    private static double Number(object argument)
    {
        switch (argument as string)
        {
            case "NaN":
                return double.NaN;
            case "inf":
                return double.PositiveInfinity;
            case "-inf":
                return double.NegativeInfinity;
            default:
                return (double)argument;
        }
    }

    private static object OrText(float value)
    {
        if (float.IsNaN(value))
        {
            return "NaN";
        }
        return float.IsInfinity(value) ? (value > 0 ? "inf" : "-inf") : (object)value;
    }
}
